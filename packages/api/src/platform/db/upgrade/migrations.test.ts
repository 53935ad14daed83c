import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrationsFolder } from '../../../testing/database/database.ts';
import { createEmptyDatabase } from '../../../testing/database/empty-database.ts';
import { copyMigrations } from '../../../testing/database/migrations-folder.ts';
import { openDatabase } from '../client.ts';
import { migrate } from './migrate.ts';

let empty: Awaited<ReturnType<typeof createEmptyDatabase>>;
let database: ReturnType<typeof openDatabase>;
const earlier = copyMigrations(4);
beforeAll(async () => {
  empty = await createEmptyDatabase();
  database = openDatabase({ url: empty.url, pool: 2, prepare: false });
});
afterAll(async () => {
  await database.close();
  await empty.drop();
  earlier.remove();
});

it('takes the mode of customers and subscriptions from their events', async () => {
  const { sql } = database;
  await migrate(sql, earlier.folder);
  const [organisation] = await sql`
    insert into organisations (id, slug, created_at) values (gen_random_uuid(), 'company', now()) returning id`;
  const subscriptions = [
    { id: 'sub_live', customer: 'cus_live', livemode: true },
    { id: 'sub_test', customer: 'cus_test', livemode: false },
    { id: 'sub_untold', customer: 'cus_untold', livemode: null },
  ];
  for (const [at, { id, customer, livemode }] of subscriptions.entries()) {
    await sql`
      insert into payment_customers (organisation_id, generation, customer_id, created_at, gone_at)
      values (${organisation?.id}, ${at + 1}, ${customer}, now(), ${at === 2 ? null : new Date().toISOString()})`;
    await sql`
      insert into payment_subscriptions (id, organisation_id, customer_id)
      values (${id}, ${organisation?.id}, ${customer})`;
    if (livemode === null) continue;
    const payload = JSON.stringify({
      livemode,
      data: { object: { livemode: !livemode, note: '\u0000\ud800\\u0000\\' } },
    });
    await sql`
      insert into payment_events
        (id, type, created, received_at, subscription_id, standing, handled, outcome, payload)
      values (${`evt_${id}`}, 'customer.subscription.updated', 1, now(), ${id}, 'other', true, 'applied', ${payload})`;
  }

  await migrate(sql, migrationsFolder);
  const modes = await sql`
    select c.customer_id, c.livemode as customer, s.livemode as subscription
    from payment_customers c join payment_subscriptions s using (customer_id) order by c.generation`;
  expect(modes.map((row) => [row.customer_id, row.customer, row.subscription])).toEqual([
    ['cus_live', true, true],
    ['cus_test', false, false],
    ['cus_untold', null, null],
  ]);
});
