import type Stripe from 'stripe';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PaymentSandbox as Sandbox } from '../../start-payment-sandbox.ts';
import { sdk, startTestSandbox } from '../../testing.ts';

let sandbox: Sandbox;
let stripe: Stripe;

beforeEach(async () => {
  sandbox = await startTestSandbox();
  stripe = sdk(sandbox);
});
afterEach(() => sandbox.close());

const silver = 'price_sandbox_silver_monthly';
const gold = 'price_sandbox_gold_monthly';

async function customerWithCard(): Promise<string> {
  const { id } = await stripe.customers.create({ payment_method: 'pm_card_visa' });
  const [method] = (await stripe.paymentMethods.list({ customer: id })).data;
  await stripe.customers.update(id, { invoice_settings: { default_payment_method: method?.id as string } });
  return id;
}

async function buy(): Promise<Stripe.Subscription> {
  return stripe.subscriptions.create({ customer: await customerWithCard(), items: [{ price: silver }] });
}

test('the end of a managed subscription can be changed only through its schedule, until the release', async () => {
  const { id } = await buy();
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: id });
  expect(schedule).toMatchObject({ status: 'active', subscription: id, end_behavior: 'release' });
  expect((await stripe.subscriptions.retrieve(id)).schedule).toBe(schedule.id);
  for (const change of [{ cancel_at_period_end: true }, { cancel_at: '' as const }]) {
    await expect(stripe.subscriptions.update(id, change)).rejects.toMatchObject({
      statusCode: 400,
      message: /managed by the subscription schedule/,
    });
  }
  await expect(stripe.subscriptionSchedules.create({ from_subscription: id })).rejects.toMatchObject({
    statusCode: 400,
  });

  expect(await stripe.subscriptionSchedules.release(schedule.id)).toMatchObject({
    status: 'released',
    subscription: null,
    released_subscription: id,
  });
  expect((await stripe.subscriptions.update(id, { cancel_at_period_end: true })).schedule).toBeNull();
  await expect(stripe.subscriptionSchedules.release(schedule.id)).rejects.toMatchObject({ statusCode: 400 });
});

test.each([
  ['removes', false],
  ['keeps', true],
])('a schedule that cancels sets the end of its subscription, and a release %s it as requested', async (_, kept) => {
  const { id } = await buy();
  const { id: schedule } = await stripe.subscriptionSchedules.create({ from_subscription: id });
  const { phases } = await stripe.subscriptionSchedules.update(schedule, { end_behavior: 'cancel' });
  expect((await stripe.subscriptions.retrieve(id)).cancel_at).toBe(phases[0]?.end_date);
  await stripe.subscriptionSchedules.release(schedule, { preserve_cancel_date: kept });
  expect((await stripe.subscriptions.retrieve(id)).cancel_at).toBe(kept ? phases[0]?.end_date : null);
});

test('the phases of a schedule follow each other, and the renewal at a change bills the new phase', async () => {
  const { id, items } = await buy();
  const { id: schedule, phases } = await stripe.subscriptionSchedules.create({ from_subscription: id });
  await stripe.subscriptionSchedules.update(schedule, {
    phases: [
      { items: [{ price: silver }], start_date: phases[0]?.start_date ?? 0, end_date: phases[0]?.end_date ?? 0 },
      { items: [{ price: gold }], duration: { interval: 'month' } },
    ],
  });
  sandbox.payment.clock.advanceTo((items.data[0]?.current_period_end as number) + 7200);
  expect((await stripe.subscriptions.retrieve(id)).items.data[0]?.price.id).toBe(gold);
  expect((await stripe.invoices.list({ subscription: id })).data[0]?.amount_paid).toBe(7900);
  sandbox.payment.clock.advanceToPeriodEnd(id);
  expect(await stripe.subscriptionSchedules.retrieve(schedule)).toMatchObject({ status: 'released' });
  expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'active', schedule: null });
});

test('a phase that leaves a gap to the one before is refused', async () => {
  const { id } = await buy();
  const { id: schedule, phases } = await stripe.subscriptionSchedules.create({ from_subscription: id });
  const [{ start_date = 0, end_date = 0 } = {}] = phases;
  const second = (start: number) =>
    stripe.subscriptionSchedules.update(schedule, {
      phases: [
        { items: [{ price: silver }], start_date, end_date },
        { items: [{ price: gold }], start_date: start, duration: { interval: 'month' } },
      ],
    });
  await expect(second(end_date + 1)).rejects.toMatchObject({ param: 'phases[1][start_date]' });
  expect((await second(end_date)).phases).toHaveLength(2);
});

test('a schedule that has not started creates its subscription at its start, unless it was cancelled before', async () => {
  const customer = await customerWithCard();
  const start = sandbox.payment.clock.now() + 86_400;
  const plan = () =>
    stripe.subscriptionSchedules.create({ customer, start_date: start, phases: [{ items: [{ price: silver }] }] });
  const [begins, dropped] = [await plan(), await plan()];
  const planned = await stripe.subscriptionSchedules.list({ customer, scheduled: true });
  expect(planned.data.map(({ id }) => id)).toEqual([dropped.id, begins.id]);

  expect(await stripe.subscriptionSchedules.cancel(dropped.id)).toMatchObject({ status: 'canceled' });
  expect((await stripe.subscriptions.list({ customer })).data).toEqual([]);
  sandbox.payment.clock.advance({ days: 2 });
  const { data } = await stripe.subscriptions.list({ customer });
  expect(data).toMatchObject([{ status: 'active', schedule: begins.id }]);
});

test('the end of a subscription ends its schedule, and the end of a schedule its subscription', async () => {
  const one = await buy();
  const first = await stripe.subscriptionSchedules.create({ from_subscription: one.id });
  await stripe.subscriptions.cancel(one.id);
  expect((await stripe.subscriptionSchedules.retrieve(first.id)).status).toBe('canceled');

  const other = await buy();
  const second = await stripe.subscriptionSchedules.create({ from_subscription: other.id });
  await stripe.subscriptionSchedules.cancel(second.id);
  expect((await stripe.subscriptions.retrieve(other.id)).status).toBe('canceled');

  const planned = await buy();
  const third = await stripe.subscriptionSchedules.create({ from_subscription: planned.id });
  await stripe.subscriptionSchedules.update(third.id, { end_behavior: 'cancel' });
  sandbox.payment.clock.advanceTo(third.phases[0]?.end_date as number);
  expect((await stripe.subscriptions.retrieve(planned.id)).status).toBe('canceled');
  expect((await stripe.subscriptionSchedules.retrieve(third.id)).status).toBe('completed');
});

test('the portal refuses to change the plan of a managed subscription, and releases it by a cancellation', async () => {
  const { id, customer, items } = await buy();
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: id });
  await expect(
    stripe.billingPortal.sessions.create({
      customer: customer as string,
      flow_data: {
        type: 'subscription_update_confirm',
        subscription_update_confirm: { subscription: id, items: [{ id: items.data[0]?.id as string, price: gold }] },
      },
    }),
  ).rejects.toMatchObject({ statusCode: 400 });

  const { url } = await stripe.billingPortal.sessions.create({ customer: customer as string });
  const portal = sandbox.payment.portal(url);
  expect(() => portal.changePlan(id, gold)).toThrow('a schedule manages it');
  portal.cancel(id);
  expect((await stripe.subscriptionSchedules.retrieve(schedule.id)).status).toBe('released');
  expect((await stripe.subscriptions.retrieve(id)).cancel_at).not.toBeNull();
});

test('of an incomplete subscription only the metadata can be changed, and it can be cancelled', async () => {
  const customer = await customerWithCard();
  const { id, items } = await stripe.subscriptions.create({
    customer,
    items: [{ price: silver }],
    payment_behavior: 'default_incomplete',
  });
  const refused = { statusCode: 400, message: /can only update its metadata/ };
  await expect(stripe.subscriptions.update(id, { cancel_at_period_end: true })).rejects.toMatchObject(refused);
  await expect(stripe.subscriptionItems.update(items.data[0]?.id as string, { price: gold })).rejects.toMatchObject(
    refused,
  );
  expect((await stripe.subscriptions.update(id, { metadata: { note: 'kept' } })).metadata).toEqual({ note: 'kept' });
  expect((await stripe.subscriptions.cancel(id)).status).toBe('canceled');
});
