import { createHash, randomUUID } from 'node:crypto';
import { openDatabase } from '@gatehouse/api/platform/db/client';
import { hash } from '@node-rs/argon2';
import type { Sql } from 'postgres';

export const password = 'a pass phrase for the bench';

const organisationCount = 1000;

export type Owner = {
  email: string;
  session: string;
  organisationId: string;
  customerId: string;
  subscriptionId: string;
};

/** Inserts owners of approved organisations with a paid plan, a session and `password`, and the tables of the baseline. */
export async function insertOwners(databaseUrl: string): Promise<Owner[]> {
  const { sql, close } = openDatabase({ url: databaseUrl, pool: 1, prepare: false });
  return insertInto(sql).finally(close);
}

async function insertInto(sql: Sql): Promise<Owner[]> {
  const passwordHash = await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  await sql.unsafe(baselineTables);
  const owners = Array.from({ length: organisationCount }, (_, number) => ownerOf(number));
  const column = (name: keyof (typeof owners)[number]) => owners.map((owner) => owner[name] as string);

  await sql`
    insert into organisations (id, slug, name, approval, created_at, approved_at)
    select id, 'company-' || left(id::text, 13), 'Company', 'approved', now(), now()
    from unnest(${column('organisationId')}::uuid[]) as id`;
  await sql`
    insert into users (id, email, email_verified_at, password_hash, onboarded_at, created_at)
    select id, email, now(), ${passwordHash}, now(), now()
    from unnest(${column('userId')}::uuid[], ${column('email')}::text[]) as row (id, email)`;
  await sql`
    insert into memberships (user_id, organisation_id, role, created_at, last_seen_at)
    select user_id, organisation_id, 'owner', now(), now()
    from unnest(${column('userId')}::uuid[], ${column('organisationId')}::uuid[]) as row (user_id, organisation_id)`;
  await sql`
    insert into sessions (id_hash, id, user_id, organisation_id, created_at, last_used_at, expires_at)
    select hash, gen_random_uuid(), user_id, organisation_id, now(), now(), now() + interval '30 days'
    from unnest(${owners.map(({ session }) => sha256(session))}::text[], ${column('userId')}::uuid[],
      ${column('organisationId')}::uuid[]) as row (hash, user_id, organisation_id)`;
  // As in a running service. PostgreSQL would plan a sequential scan of an empty table, and keep that plan.
  await sql`
    insert into known_browsers (token_hash, user_id, first_signed_in_at, signed_in_at)
    select md5(user_id::text), user_id, now(), now() from unnest(${column('userId')}::uuid[]) as user_id`;
  await sql`
    insert into payment_customers (organisation_id, customer_id, created_at)
    select organisation_id, customer_id, now()
    from unnest(${column('organisationId')}::uuid[], ${column('customerId')}::text[]) as row (organisation_id, customer_id)`;
  await sql`
    insert into payment_subscriptions (id, organisation_id, customer_id, status, tier, tier_source, price_id,
      current_period_end, started_at, state_at, synced_at)
    select id, organisation_id, customer_id, 'active', 'silver', 'price', 'price_silver',
      now() + interval '20 days', now(), 0, now()
    from unnest(${column('subscriptionId')}::text[], ${column('organisationId')}::uuid[], ${column('customerId')}::text[])
      as row (id, organisation_id, customer_id)`;
  await sql`
    insert into organisation_plans
      (organisation_id, tier, source, since, subscription_id, status, current_period_end, started_at)
    select organisation_id, tier, 'subscription', started_at, id, status, current_period_end, started_at
    from payment_subscriptions`;
  await sql`
    insert into payment_events (id, type, created, received_at, organisation_id, customer_id, subscription_id,
      handled, outcome, payload)
    select 'evt_' || number || '_' || id, 'customer.subscription.updated', number, now() - interval '200 days',
      organisation_id, customer_id, id, true, 'applied', '{}'
    from unnest(${column('subscriptionId')}::text[], ${column('organisationId')}::uuid[], ${column('customerId')}::text[])
      as row (id, organisation_id, customer_id), generate_series(1, 3) as number`;
  await sql`insert into bench.events (id, type, created, payload) select id, type, created, payload from payment_events`;
  await sql`insert into payment_known_prices (price_id, product_id, tier) values
    ('price_silver', 'prod_silver', 'silver'), ('price_gold', 'prod_gold', 'gold')`;
  await sql`insert into usage (organisation_id, meter, since, used)
    select id, 'api_calls', date_trunc('month', now()), 120 from organisations`;
  await sql`analyze`;
  return owners;
}

function ownerOf(number: number): Owner & { userId: string } {
  return {
    userId: randomUUID(),
    email: `owner-${number}@company.example`,
    session: randomUUID().replaceAll('-', ''),
    organisationId: randomUUID(),
    customerId: `cus_${number}`,
    subscriptionId: `sub_${number}`,
  };
}

const baselineTables = `
  create schema bench;
  create table bench.events (id text primary key, type text not null, created bigint not null, payload text not null);
  create table bench.subscriptions (id text primary key, customer_id text not null, status text not null, period_end bigint);
  create table bench.sessions (id_hash text primary key, user_id uuid not null, created_at timestamptz default now());
  create table bench.users (id uuid primary key, email text not null unique, password_hash text not null);
  create table bench.organisations (id uuid primary key, slug text not null unique);
  create table bench.memberships (user_id uuid, organisation_id uuid, primary key (user_id, organisation_id));
  create table bench.mails (id uuid primary key, email text not null)`;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
