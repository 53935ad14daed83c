import type Stripe from 'stripe';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PaymentSandbox as Sandbox } from './start-payment-sandbox.ts';
import { sdk, startTestSandbox } from './testing.ts';
import { sdkTypes } from './type-walk/sdk-types.ts';
import { startTypeWalk, type TypeWalk } from './type-walk/type-walk.ts';

let sandbox: Sandbox;
let stripe: Stripe;
let walk: TypeWalk;

beforeAll(() => void sdkTypes(), 60_000);
beforeEach(async () => {
  sandbox = await startTestSandbox();
  walk = startTypeWalk();
  stripe = sdk(sandbox, { httpClient: walk.httpClient });
});
afterEach(async () => {
  expectUnbrokenHistory();
  walk.read(sandbox.payment.events());
  expect(walk.found()).toEqual([]);
  await sandbox.close();
});

const silver = 'price_sandbox_silver_monthly';
const gold = 'price_sandbox_gold_monthly';
const declinesLater = '4000000000000341';
const day = 86_400;

test('a renewal moves the period and charges the card an hour later', async () => {
  const bought = await buy();
  const end = bought.items.data[0]?.current_period_end as number;
  sandbox.payment.clock.advanceTo(end);
  const renewed = await stripe.subscriptions.retrieve(bought.id, { expand: ['latest_invoice'] });
  expect(renewed.items.data[0]).toMatchObject({ current_period_start: end });
  expect(renewed).toMatchObject({
    status: 'active',
    latest_invoice: { status: 'draft', billing_reason: 'subscription_cycle' },
  });
  sandbox.payment.clock.advance({ hours: 1 });
  const invoices = await stripe.invoices.list({ subscription: bought.id, status: 'paid' });
  expect(invoices.data.map(({ amount_paid }) => amount_paid)).toEqual([2400, 2400]);
  expect(invoices.data[0]?.parent?.subscription_details?.subscription).toBe(bought.id);
});

test('a declined renewal is past due, is tried three times more, and ends in cancellation', async () => {
  const bought = await buy();
  sandbox.payment.setCard(bought.customer as string, declinesLater);
  sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  expect(await statusOf(bought.id)).toBe('past_due');
  const [open] = (await stripe.invoices.list({ customer: bought.customer as string, status: 'open' })).data;
  expect(open).toMatchObject({ attempt_count: 1, hosted_invoice_url: `${sandbox.url}/pay/invoice/${open?.id}` });
  const retries: string[] = [];
  while ((await statusOf(bought.id)) === 'past_due') retries.push(sandbox.payment.clock.advanceToNext() ?? 'nothing');
  expect(retries).toEqual([
    'an unpaid invoice is tried again (attempt 2)',
    'an unpaid invoice is tried again (attempt 3)',
    'an unpaid invoice is tried again (attempt 4)',
  ]);
  expect(await stripe.subscriptions.retrieve(bought.id)).toMatchObject({
    status: 'canceled',
    cancellation_details: { reason: 'payment_failed' },
  });
  expect(typesOf(bought.id).slice(-1)).toEqual(['customer.subscription.deleted']);
  expect(sandbox.payment.events().filter(({ type }) => type === 'invoice.payment_failed')).toHaveLength(4);
});

test('the end of dunning can also be unpaid, or past due for ever', async () => {
  for (const end of ['unpaid', 'past_due'] as const) {
    sandbox.payment.set({ dunning_end: end });
    const bought = await buy();
    sandbox.payment.setCard(bought.customer as string, declinesLater);
    sandbox.payment.clock.advanceToPeriodEnd(bought.id);
    sandbox.payment.clock.advance({ days: 16 });
    expect(await statusOf(bought.id)).toBe(end);
    await stripe.subscriptions.cancel(bought.id);
  }
});

test('who pays the open invoice by hand is active again; a new card alone pays nothing', async () => {
  const bought = await buy();
  const customer = bought.customer as string;
  sandbox.payment.setCard(customer, declinesLater);
  sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  sandbox.payment.setCard(customer, '4242424242424242');
  expect(await statusOf(bought.id)).toBe('past_due');
  const [open] = (await stripe.invoices.list({ customer, status: 'open' })).data;
  const address = open?.hosted_invoice_url as string;
  const declined = await post(address, { card: '4000000000000002' });
  expect(declined.status).toBe(402);
  expect(await statusOf(bought.id)).toBe('past_due');
  expect((await post(address, { card: '4242424242424242' })).status).toBe(303);
  expect(await statusOf(bought.id)).toBe('active');
  expect((await stripe.invoices.retrieve(open?.id as string)).status).toBe('paid');
  await expect(stripe.invoices.pay(open?.id as string)).rejects.toMatchObject({ message: 'Invoice is already paid' });
});

test('a failed renewal can be paid over the API with a better card', async () => {
  const bought = await buy();
  const customer = bought.customer as string;
  sandbox.payment.setCard(customer, declinesLater);
  sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  const [open] = (await stripe.invoices.list({ customer, status: 'open' })).data;
  await expect(stripe.invoices.pay(open?.id as string)).rejects.toMatchObject({
    statusCode: 402,
    code: 'card_declined',
  });
  const method = await stripe.paymentMethods.attach('pm_card_visa', { customer });
  const paid = await stripe.invoices.pay(open?.id as string, { payment_method: method.id });
  expect(paid).toMatchObject({ status: 'paid', attempt_count: 1 });
  expect(await statusOf(bought.id)).toBe('active');
});

test('a card that asks its owner raises payment_action_required', async () => {
  const bought = await buy();
  sandbox.payment.setCard(bought.customer as string, '4000002760003184');
  sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  expect(sandbox.payment.events().map(({ type }) => type)).toContain('invoice.payment_action_required');
});

test.each(['flexible', 'classic'] as const)(
  'a cancellation in the portal, in its %s form, ends the subscription at its time',
  async (form) => {
    sandbox.payment.set({ portal_cancellation: form });
    const bought = await buy();
    const end = bought.items.data[0]?.current_period_end as number;
    const portal = await stripe.billingPortal.sessions.create({ customer: bought.customer as string });
    expect((await post(portal.url, { act: 'cancel', subscription: bought.id })).status).toBe(303);
    const ending = await stripe.subscriptions.retrieve(bought.id);
    expect(ending).toMatchObject({ status: 'active', cancel_at: end, cancel_at_period_end: form === 'classic' });
    expect(sandbox.payment.events().at(-1)?.data.previous_attributes).toMatchObject({ cancel_at: null });
    sandbox.payment.clock.advanceTo(end);
    expect(await stripe.subscriptions.retrieve(bought.id)).toMatchObject({ status: 'canceled', ended_at: end });
    expect((await stripe.subscriptions.list({ customer: bought.customer as string })).data).toEqual([]);
  },
);

test('each form of a scheduled end is undone in its own way, and never both at once', async () => {
  const { id } = await buy();
  await expect(stripe.subscriptions.update(id, { cancel_at: '', cancel_at_period_end: false })).rejects.toMatchObject({
    statusCode: 400,
  });
  const flagged = await stripe.subscriptions.update(id, { cancel_at_period_end: true });
  expect((await stripe.subscriptions.update(id, { cancel_at: '' })).cancel_at).toBe(flagged.cancel_at);
  expect((await stripe.subscriptions.update(id, { cancel_at_period_end: false })).cancel_at).toBeNull();
  const timed = await stripe.subscriptions.update(id, { cancel_at: 'min_period_end' });
  expect(timed).toMatchObject({ cancel_at: timed.items.data[0]?.current_period_end, cancel_at_period_end: false });
  expect((await stripe.subscriptions.update(id, { cancel_at_period_end: false })).cancel_at).toBe(timed.cancel_at);
  expect((await stripe.subscriptions.update(id, { cancel_at: '' })).cancel_at).toBeNull();
});

test('what has ended cannot be revived, and what is not paused cannot be resumed', async () => {
  const { id } = await buy();
  await expect(stripe.subscriptions.resume(id)).rejects.toMatchObject({ statusCode: 400 });
  await stripe.subscriptions.cancel(id);
  await expect(stripe.subscriptions.cancel(id)).rejects.toMatchObject({ statusCode: 404, code: 'resource_missing' });
  await expect(stripe.subscriptions.update(id, { cancel_at_period_end: false })).rejects.toMatchObject({
    code: 'invalid_canceled_subscription_fields',
  });
  expect((await stripe.subscriptions.update(id, { metadata: { note: 'kept' } })).metadata).toEqual({ note: 'kept' });
});

test('a plan change is one subscription: the difference is billed now, and credit pays what follows', async () => {
  const bought = await buy();
  const item = bought.items.data[0]?.id as string;
  const half = ((bought.items.data[0]?.current_period_end as number) - bought.created) / 2;
  sandbox.payment.clock.advance({ seconds: Math.floor(half) });
  const up = await stripe.subscriptions.update(bought.id, {
    items: [{ id: item, price: gold }],
    proration_behavior: 'always_invoice',
    expand: ['latest_invoice'],
  });
  expect(up.items.data).toHaveLength(1);
  expect(up.items.data[0]).toMatchObject({ id: item, price: { id: gold } });
  expect((up.latest_invoice as Stripe.Invoice).amount_paid).toBeCloseTo(2750, -1);
  await stripe.subscriptions.update(bought.id, {
    items: [{ id: item, price: silver }],
    proration_behavior: 'always_invoice',
  });
  const customer = (await stripe.customers.retrieve(bought.customer as string)) as Stripe.Customer;
  expect(customer.balance).toBeCloseTo(-2750, -1);
  sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  const [renewal] = (await stripe.invoices.list({ subscription: bought.id })).data;
  expect(renewal).toMatchObject({ status: 'paid', total: 2400, amount_due: 0 });
});

test('without payment now, the difference waits for the next invoice', async () => {
  const bought = await buy();
  await stripe.subscriptionItems.update(bought.items.data[0]?.id as string, { price: gold });
  sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  const [renewal] = (await stripe.invoices.list({ subscription: bought.id })).data;
  expect(renewal?.lines.data).toHaveLength(3);
  expect(renewal?.amount_paid).toBeCloseTo(7900 + 5500, -2);
});

test('a change in the portal that the card refuses changes nothing', async () => {
  const bought = await buy();
  sandbox.payment.setCard(bought.customer as string, '4000000000000341');
  const change = { items: [{ id: bought.items.data[0]?.id as string, price: gold }] };
  await expect(
    stripe.subscriptions.update(bought.id, {
      ...change,
      proration_behavior: 'always_invoice',
      payment_behavior: 'error_if_incomplete',
    }),
  ).rejects.toMatchObject({ statusCode: 402, code: 'card_declined' });
  expect((await stripe.subscriptions.retrieve(bought.id)).items.data[0]?.price.id).toBe(silver);
});

test('an unpaid first invoice leaves the subscription incomplete, for 23 hours', async () => {
  const customer = await stripe.customers.create({ payment_method: 'pm_card_chargeCustomerFail' });
  const [method] = (await stripe.paymentMethods.list({ customer: customer.id })).data;
  const create = () =>
    stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: silver }],
      default_payment_method: method?.id as string,
      expand: ['latest_invoice'],
    });
  const paidLate = await create();
  expect(paidLate).toMatchObject({ status: 'incomplete', latest_invoice: { status: 'open' } });
  sandbox.payment.payInvoice((paidLate.latest_invoice as Stripe.Invoice).id as string);
  expect(await statusOf(paidLate.id)).toBe('active');
  const never = await create();
  sandbox.payment.clock.advance({ hours: 23 });
  expect(await statusOf(never.id)).toBe('incomplete_expired');
});

test('a trial announces its end, and without a card it pauses; resuming charges', async () => {
  const customer = await stripe.customers.create({});
  const trial = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: silver }],
    trial_period_days: 14,
    trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
  });
  expect(trial.status).toBe('trialing');
  sandbox.payment.clock.advance({ days: 11, seconds: 1 });
  expect(typesOf(trial.id)).toContain('customer.subscription.trial_will_end');
  sandbox.payment.clock.advance({ days: 3 });
  expect(await statusOf(trial.id)).toBe('paused');
  sandbox.payment.setCard(customer.id, '4242424242424242');
  expect((await stripe.subscriptions.retrieve(trial.id)).status_details?.paused.subscription.type).toBe(
    'trial_end_without_payment_method',
  );
  const resumed = await stripe.subscriptions.resume(trial.id, { payment_behavior: 'resume_on_payment_success' });
  expect(resumed.status).toBe('active');
  expect(typesOf(trial.id)).toEqual(
    expect.arrayContaining(['customer.subscription.paused', 'customer.subscription.resumed']),
  );
});

test('a test clock moves its own customers alone', async () => {
  const start = Math.floor(Date.now() / 1000);
  const clock = await stripe.testHelpers.testClocks.create({ frozen_time: start });
  const customer = await stripe.customers.create({ test_clock: clock.id, payment_method: 'pm_card_visa' });
  const [method] = (await stripe.paymentMethods.list({ customer: customer.id })).data;
  const clocked = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: silver }],
    default_payment_method: method?.id as string,
  });
  const other = await buy();
  const advancing = await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: start + 32 * day });
  expect(advancing.status).toBe('advancing');
  expect(await stripe.testHelpers.testClocks.retrieve(clock.id)).toMatchObject({
    status: 'ready',
    frozen_time: start + 32 * day,
  });
  expect((await stripe.invoices.list({ subscription: clocked.id })).data).toHaveLength(2);
  expect((await stripe.invoices.list({ subscription: other.id })).data).toHaveLength(1);
  await expect(stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: start })).rejects.toMatchObject({
    statusCode: 400,
  });
});

test('an open checkout expires after a day, or when it is told to', async () => {
  const customer = await stripe.customers.create({});
  const [one, two] = [await checkout(customer.id), await checkout(customer.id)];
  expect((await stripe.checkout.sessions.list({ customer: customer.id, status: 'open' })).data).toHaveLength(2);
  expect((await stripe.checkout.sessions.expire(one.id)).url).toBeNull();
  await expect(stripe.checkout.sessions.expire(one.id)).rejects.toMatchObject({ message: /status of `expired`/ });
  sandbox.payment.clock.advance({ days: 1 });
  expect((await stripe.checkout.sessions.retrieve(two.id)).status).toBe('expired');
  expect(sandbox.payment.payCheckout(two.id)).toMatchObject({ paid: false });
  expect(sandbox.payment.events().filter(({ type }) => type === 'checkout.session.expired')).toHaveLength(2);
});

test('a second checkout makes a second subscription, as it does at the real provider', async () => {
  const bought = await buy();
  const again = await checkout(bought.customer as string);
  sandbox.payment.payCheckout(again.url as string);
  expect((await stripe.subscriptions.list({ customer: bought.customer as string })).data).toHaveLength(2);
});

test('flows of the portal are refused where they cannot be carried out', async () => {
  const bought = await buy();
  const confirm = (price: string, item = bought.items.data[0]?.id as string) =>
    stripe.billingPortal.sessions.create({
      customer: bought.customer as string,
      flow_data: {
        type: 'subscription_update_confirm',
        subscription_update_confirm: { subscription: bought.id, items: [{ id: item, price }] },
      },
    });
  await expect(confirm(silver)).rejects.toMatchObject({ message: /no changes/ });
  await expect(confirm(gold, 'si_none')).rejects.toMatchObject({ code: 'resource_missing' });
  const other = await stripe.prices.create({
    product: 'prod_sandbox_gold',
    currency: 'gbp',
    unit_amount: 1,
    recurring: { interval: 'month' },
  });
  await expect(confirm(other.id)).rejects.toMatchObject({ message: /not included in the configuration/ });
  expect((await confirm(gold)).flow?.subscription_update_confirm?.items[0]?.price).toBe(gold);
  sandbox.payment.set({ portal_refuses_flows: true });
  await expect(confirm(gold)).rejects.toMatchObject({ statusCode: 400 });
});

test('a month’s end stays the month’s end', async () => {
  const clock = await stripe.testHelpers.testClocks.create({ frozen_time: Date.UTC(2027, 0, 31, 12) / 1000 });
  const customer = await stripe.customers.create({ test_clock: clock.id, payment_method: 'pm_card_visa' });
  const [method] = (await stripe.paymentMethods.list({ customer: customer.id })).data;
  const { id } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: silver }],
    default_payment_method: method?.id as string,
  });
  const ends: string[] = [];
  for (const month of [1, 2, 3]) {
    const { items } = await stripe.subscriptions.retrieve(id);
    ends.push(new Date((items.data[0]?.current_period_end as number) * 1000).toISOString().slice(0, 10));
    await stripe.testHelpers.testClocks.advance(clock.id, {
      frozen_time: Date.UTC(2027, month, 28, 13) / 1000 + 3 * day,
    });
  }
  expect(ends).toEqual(['2027-02-28', '2027-03-31', '2027-04-30']);
});

/** Undoing each event's previous_attributes gives the state that the event before it told. */
function expectUnbrokenHistory(): void {
  const last = new Map<string, object>();
  let created = 0;
  for (const event of sandbox.payment.events()) {
    const object = event.data.object as { id: string; object: string; test_clock?: string | null };
    if (object.object !== 'subscription') continue;
    const before = last.get(object.id);
    const previous = event.data.previous_attributes;
    if (before && previous) expect(undo(object, previous), event.type).toEqual(normal(before));
    if (event.type === 'customer.subscription.updated') expect(previous).toBeDefined();
    if (!object.test_clock) {
      expect(event.created).toBeGreaterThanOrEqual(created);
      created = event.created;
    }
    last.set(object.id, object);
  }
}

function undo(after: object, previous: object): object {
  const undone: Record<string, unknown> = { ...after };
  for (const [name, value] of Object.entries(previous)) {
    const current = undone[name];
    const isHash = [value, current].every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
    undone[name] = isHash ? undo(current as object, value) : value;
  }
  return normal(undone);
}

/** Null counts as absent. */
function normal(object: object): object {
  return JSON.parse(JSON.stringify(object), (_, value) => (value === null ? undefined : value));
}

async function buy(): Promise<Stripe.Subscription> {
  const customer = await stripe.customers.create({});
  const session = await checkout(customer.id);
  expect(sandbox.payment.payCheckout(session.id)).toMatchObject({ paid: true });
  return (await stripe.subscriptions.list({ customer: customer.id })).data[0] as Stripe.Subscription;
}

function checkout(customer: string): Promise<Stripe.Checkout.Session> {
  return stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    line_items: [{ price: silver, quantity: 1 }],
    success_url: 'http://localhost:3000/billing?checkout=success',
  });
}

async function statusOf(id: string): Promise<string> {
  return (await stripe.subscriptions.retrieve(id)).status;
}

function typesOf(id: string): string[] {
  return sandbox.payment
    .events()
    .filter(({ data }) => (data.object as { id: string }).id === id)
    .map(({ type }) => type);
}

function post(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}
