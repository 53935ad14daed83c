import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { paymentEvents, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { type BillingTest, makeSecond, makeSubscriber, startBillingTest } from '../../testing/billing.ts';
import { makeOwner } from '../../testing/factories.ts';

let test: BillingTest;
let operator: Awaited<ReturnType<typeof makeOwner>>;
beforeAll(async () => {
  test = await startBillingTest();
  operator = await makeOwner(test, { operator: true });
});
afterAll(() => test.close());

const readCounts = async () => (await operator.api.operators.queue({})).counts;

it('an organisation pays once, however many active subscriptions it has, until the last one has ended', async () => {
  const before = await readCounts();
  const { subscription } = await makeSubscriber(test);
  expect((await readCounts()).paying).toBe((before.paying ?? 0) + 1);

  const second = await makeSecond(test, subscription.customer, 'gold');
  await test.settled();
  expect((await readCounts()).paying).toBe((before.paying ?? 0) + 1);

  const ended = { status: 'canceled', ended: true };
  for (const [id, change] of [
    [subscription.id, ended],
    [second.id, { endsAt: test.app.now() }],
  ] as const) {
    await test.app.db.update(paymentSubscriptions).set(change).where(eq(paymentSubscriptions.id, id));
  }
  expect(await readCounts()).toEqual(before);
});

it('events and subscriptions that need attention are counted together', async () => {
  const before = await readCounts();
  const { subscription } = await makeSubscriber(test);
  const ofSubscription = eq(paymentSubscriptions.id, subscription.id);
  await test.app.db.update(paymentSubscriptions).set({ problem: 'unknown_to_provider' }).where(ofSubscription);
  const [event] = await test.app.db.select().from(paymentEvents).limit(1);
  await test.app.db
    .update(paymentEvents)
    .set({ flagged: true })
    .where(eq(paymentEvents.id, event?.id ?? ''));

  expect((await readCounts()).needs_attention).toBe(before.needs_attention + 2);
});

it('every count ends at a thousand', async () => {
  const now = test.app.now().toISOString();
  await test.app.db.execute(sql`
    insert into organisations (id, slug, approval, approved_at, created_at)
    select gen_random_uuid(), 'many-' || n, 'approved', ${now}, ${now} from generate_series(1, 1100) as n`);
  await test.app.db.execute(sql`
    insert into payment_subscriptions (id, organisation_id, customer_id, status, problem)
    select 'sub_' || slug, id, 'cus_' || slug, 'active', 'other_customer' from organisations where slug like 'many-%'`);

  expect(await readCounts()).toMatchObject({
    approved_this_week: 1000,
    paying: 1000,
    needs_attention: 1000,
    most: 1000,
  });
});

it('without billing the number of paying organisations is null', async () => {
  const { payment } = test.app;
  test.app.payment = null as never;
  expect((await readCounts()).paying).toBeNull();
  test.app.payment = payment;
});
