import { hashToken } from '@gatehouse/api/platform/security/token';
import type { Sql, TransactionSql } from 'postgres';

/** The cookie of the operator who reads the pages, and of the owner of one organisation. */
export const sessionTokens = { operator: 'operator-of-the-measurement', owner: 'owner-of-the-measurement' };

/** The number of further organisations that await approval, the same in a small and in a large database. */
const waiting = 2000;

/**
 * Fills a migrated, empty database: `size` users, organisations, memberships, sessions, subscriptions
 * and rows of usage, twice as many payment events and audit entries, and 2,000 more organisations
 * that await approval. A million takes some minutes.
 */
export async function makeData(sql: Sql, size: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local synchronous_commit = off`;
    const indexes = await dropIndexes(tx);
    await makeUsers(tx, size);
    await makeBilling(tx, size);
    await makeHistory(tx, size);
    await makeReaders(tx);
    for (const statement of indexes) await tx.unsafe(statement);
  });
  await sql`vacuum analyze`;
}

/**
 * Drops the indexes that no constraint needs and returns the statements that create them again: one that is built at
 * once takes a fraction of the time of one that grows with each row.
 */
async function dropIndexes(sql: TransactionSql): Promise<string[]> {
  const found = await sql<{ name: string; statement: string }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as statement
    from pg_index join pg_class on pg_class.oid = indrelid
    where relnamespace = 'public'::regnamespace and not indisunique
      and not exists (select from pg_constraint where conindid = indexrelid)`;
  for (const { name } of found) await sql.unsafe(`drop index ${name}`);
  await sql`set local maintenance_work_mem = '512MB'`;
  return found.map(({ statement }) => statement);
}

/** Returns the id of the n-th row as SQL. Ids are in the order of creation, and other rows can compute them. */
function idOf(prefix: string) {
  return `(lpad(to_hex(n), 12, '0') || '7000' || '8000' || '${prefix}' || lpad(to_hex(n), 8, '0'))::uuid`;
}

const user = idOf('aaaa');
const organisation = idOf('bbbb');
/** The same for more rows than there are users and organisations, which take turns. */
const [userInTurn, organisationInTurn] = [user, organisation].map((id) => id.replaceAll('n)', '(n % size + 1))'));
const at = `now() - make_interval(secs => (select count from size) - n)`;

async function makeUsers(sql: TransactionSql, size: number): Promise<void> {
  await sql.unsafe(`create temporary table size on commit drop as select ${size + waiting}::int as count`);
  const series = `generate_series(1, ${size + waiting}) as n`;
  await sql.unsafe(`
    insert into users (id, email, name, email_verified_at, created_at)
    select ${user}, 'person-' || n || '@company-' || (n % 200000) || '.example', 'Person ' || md5(n::text), ${at}, ${at} from ${series}`);
  await sql.unsafe(`
    insert into organisations (id, slug, name, approval, approved_at, created_at)
    select ${organisation}, 'company-' || n, 'Company ' || md5(n::text),
      case when n > ${size} then 'pending' else 'approved' end,
      case when n > ${size} then null else ${at} end, ${at}
    from ${series}`);
  await sql.unsafe(`
    insert into memberships (user_id, organisation_id, role, created_at)
    select ${user}, ${organisation}, 'owner', ${at} from ${series}`);
  await sql.unsafe(`
    insert into sessions (id_hash, id, user_id, organisation_id, created_at, last_used_at, expires_at, user_agent, client)
    select md5(n::text), gen_random_uuid(), ${user}, ${organisation}, ${at}, ${at}, now() + interval '20 days', 'Browser', '192.0.2.1'
    from ${series}`);
  await sql.unsafe(`
    insert into usage (organisation_id, meter, since, used)
    select ${organisation}, 'api_calls', date_trunc('month', now()), n % 1000 from ${series}`);
}

async function makeBilling(sql: TransactionSql, size: number): Promise<void> {
  await sql.unsafe(`
    insert into payment_customers (organisation_id, customer_id, created_at)
    select ${organisation}, 'cus_' || n, now() from generate_series(1, ${size}) as n`);
  await sql.unsafe(`
    insert into payment_subscriptions (id, organisation_id, customer_id, status, tier, current_period_end, started_at, state_at, synced_at)
    select 'sub_' || n, ${organisation}, 'cus_' || n, 'active', case when n % 3 = 0 then 'gold' else 'silver' end,
      now() + interval '20 days', ${at}, extract(epoch from now()), now()
    from generate_series(1, ${size}) as n`);
  await sql`
    insert into organisation_plans
      (organisation_id, tier, source, since, subscription_id, status, current_period_end, started_at)
    select organisation_id, tier, 'subscription', started_at, id, status, current_period_end, started_at
    from payment_subscriptions`;
  await sql.unsafe(`
    insert into payment_events (id, type, created, received_at, organisation_id, customer_id, subscription_id, handled, outcome, flagged, payload)
    select 'evt_' || n, case when n % 2 = 0 then 'customer.subscription.updated' else 'invoice.paid' end,
      extract(epoch from now())::bigint - ${2 * size} + n, now() - make_interval(secs => ${2 * size} - n),
      ${organisationInTurn},
      'cus_' || (n % size + 1), 'sub_' || (n % size + 1), true, 'applied', n % 5000 = 0, '{}'
    from generate_series(1, ${2 * size}) as n, (select ${size} as size) as s`);
}

async function makeHistory(sql: TransactionSql, size: number): Promise<void> {
  await sql.unsafe(`
    insert into audit_events (id, at, action, actor_id, user_id, organisation_id, client)
    select gen_random_uuid(), now() - make_interval(secs => ${2 * size} - n), case when n % 2 = 0 then 'signed-in' else 'plan-changed' end,
      ${userInTurn}, ${userInTurn},
      ${organisationInTurn}, '192.0.2.1'
    from generate_series(1, ${2 * size}) as n, (select ${size} as size) as s`);
}

/** Inserts an operator and an owner with sessions whose tokens the measurement knows. */
async function makeReaders(sql: TransactionSql): Promise<void> {
  for (const [reader, token] of Object.entries(sessionTokens)) {
    const [{ id: userId } = { id: '' }] = await sql<{ id: string }[]>`
      insert into users (id, email, email_verified_at, operator, onboarded_at, created_at)
      values (gen_random_uuid(), ${`${reader}@measurement.example`}, now(), ${reader === 'operator'}, now(), now()) returning id`;
    const [{ id: organisationId } = { id: '' }] = await sql<{ id: string }[]>`
      insert into organisations (id, slug, name, approval, approved_at, created_at)
      values (gen_random_uuid(), ${reader}, ${reader}, 'approved', now(), now()) returning id`;
    await sql`
      insert into memberships (user_id, organisation_id, role, created_at) values (${userId}, ${organisationId}, 'owner', now())`;
    await sql`
      insert into sessions (id_hash, id, user_id, organisation_id, created_at, last_used_at, expires_at)
      values (${hashToken(token)}, gen_random_uuid(), ${userId}, ${organisationId}, now(), now(), now() + interval '20 days')`;
    await sql`
      insert into audit_events (id, at, action, actor_id, user_id, organisation_id)
      select gen_random_uuid(), now() - make_interval(mins => n), 'signed-in', ${userId}, ${userId}, ${organisationId}
      from generate_series(1, 200) as n`;
  }
}
