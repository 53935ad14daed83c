import { sql } from 'drizzle-orm';
import { beforeAll, expect, it } from 'vitest';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { givePlan, makeOwner } from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { eraseOrganisation } from './delete-organisation.ts';
import { eraseUser } from './erase-user.ts';

const test = useBillingTest();

const others = 2000;

/** Returns the App, and the tables of which its transactions read many rows, because no index helps them. */
function watched(app: App): { app: App; read: Map<string, number> } {
  const read = new Map<string, number>();
  const db: App['db'] = Object.create(app.db);
  db.transaction = (run) =>
    app.db.transaction(async (tx) => {
      const before = await rowsRead(tx);
      const result = await run(tx);
      for (const [table, rows] of await rowsRead(tx)) {
        if (rows - (before.get(table) ?? 0) > others / 10) read.set(table, rows);
      }
      return result;
    });
  return { app: { ...app, db }, read };
}

async function rowsRead(tx: Transaction): Promise<Map<string, number>> {
  const rows = await tx.execute<{ table: string; rows: number }>(sql`
    select relname as table, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
    from pg_stat_xact_user_tables where schemaname = 'public'`);
  return new Map(rows.map(({ table, rows }) => [table, rows]));
}

/** Users with an organisation, a paid plan, a session and entries of their own each, whom a deletion does not concern. */
beforeAll(async () => {
  const id = (prefix: string) => `('${prefix}' || lpad(to_hex(n), 8, '0') || repeat('0', 20))::uuid`;
  const [user, organisation] = [id('aaaa'), id('bbbb')];
  await test.app.sql.unsafe(`
    insert into users (id, email, email_verified_at, created_at)
      select ${user}, 'other-' || n || '@company.example', now(), now() from generate_series(1, ${others}) n;
    insert into organisations (id, slug, name, approval, approved_at, created_at)
      select ${organisation}, 'other-' || n, 'Other', 'approved', now(), now() from generate_series(1, ${others}) n;
    insert into memberships (user_id, organisation_id, role, created_at)
      select ${user}, ${organisation}, 'owner', now() from generate_series(1, ${others}) n;
    insert into payment_customers (organisation_id, customer_id, created_at)
      select ${organisation}, 'cus_other_' || n, now() from generate_series(1, ${others}) n;
    insert into audit_events (id, at, action, actor_id, user_id, organisation_id)
      select gen_random_uuid(), now(), 'signed-in', ${user}, ${user}, ${organisation} from generate_series(1, ${others}) n;
    insert into payment_events (id, type, created, received_at, organisation_id, customer_id, handled, outcome, payload)
      select 'evt_other_' || n, 'invoice.paid', 0, now(), ${organisation}, 'cus_other_' || n, true, 'applied', '{}'
      from generate_series(1, ${others}) n;
    insert into usage (organisation_id, meter, since, used)
      select ${organisation}, 'api_calls', date_trunc('month', now()), 1 from generate_series(1, ${others}) n`);
  await test.app.sql`analyze`;
});

it('the deletion of an account reads the rows of no others, also with an organisation that ends', async () => {
  const owner = await makeOwner(test);
  await givePlan(test, owner.organisationId, 'silver');
  await test.app.sql`update payment_subscriptions set status = 'canceled', ended = true`;
  const { app, read } = watched(test.app);
  expect((await eraseUser(app, { userId: owner.userId }, { actorId: null }))?.slugs).toHaveLength(1);
  expect(Object.fromEntries(read)).toEqual({});
});

it('nor does the deletion of an organisation', async () => {
  const { organisationId } = await makeOwner(test);
  const { app, read } = watched(test.app);
  await eraseOrganisation(app, organisationId);
  expect(Object.fromEntries(read)).toEqual({});
});
