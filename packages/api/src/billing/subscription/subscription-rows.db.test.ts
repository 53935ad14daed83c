import { expect, test } from 'vitest';
import { makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { readRows } from './subscription-rows.ts';

const billing = useBillingTest();

test('an organisation’s rows are read without reading those of others, however many there are', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const other = await makeSubscriber(billing);
  const { sql } = billing.app;
  await sql`
    insert into payment_subscriptions (id, organisation_id, customer_id, status, ended, started_at)
    select 'sub_ended_' || number, ${principal.organisationId}, 'cus_1', 'canceled', true, now() - number * interval '1 day'
    from generate_series(1, 20) as number`;

  let text = '';
  let values: unknown[] = [];
  sql.options.debug = (_, statement, parameters) => {
    text = statement;
    values = parameters;
  };
  const { organisationId } = principal;
  const { rows, plan } = await readRows(billing.app.db, { organisationId, subscriptionId: other.subscription.id });
  sql.options.debug = false;

  const newestEnded = Array.from({ length: 10 }, (_, at) => `sub_ended_${at + 1}`);
  expect(rows.map(({ id }) => id).sort()).toEqual([subscription.id, other.subscription.id, ...newestEnded].sort());
  expect(plan).toMatchObject({ organisationId, tier: 'silver' });
  const explained = await sql.begin(async (tx) => {
    // Of few rows the database may read all; without a way by index it still would.
    await tx`set local enable_seqscan = off`;
    return tx.unsafe(`explain ${text}`, values as never[]);
  });
  const steps = explained.map((row) => String(row['QUERY PLAN'])).join('\n');
  expect(steps).toContain('payment_subscriptions_organisation');
  expect(steps).not.toContain('Seq Scan on payment_subscriptions');
});
