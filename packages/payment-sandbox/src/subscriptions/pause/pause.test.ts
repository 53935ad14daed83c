import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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
const declinesLater = '4000000000000341';
const goodCard = '4242424242424242';
const unchanged = {
  payment_behavior: 'resume_on_payment_success',
  billing_cycle_anchor: { type: 'unchanged' },
} as const;

async function buy(): Promise<Stripe.Subscription> {
  const customer = await stripe.customers.create({});
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: customer.id,
    line_items: [{ price: silver, quantity: 1 }],
    success_url: 'http://localhost:3000/billing?checkout=success',
  });
  sandbox.payment.payCheckout(session.id);
  return (await stripe.subscriptions.list({ customer: customer.id })).data[0] as Stripe.Subscription;
}

/** Returns a subscription whose renewal failed, in the status that the switches set. */
async function failing(): Promise<Stripe.Subscription> {
  const bought = await buy();
  sandbox.payment.setCard(bought.customer as string, declinesLater);
  sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  return bought;
}

const stateOf = (id: string) => stripe.subscriptions.retrieve(id);
const reasonOf = async (id: string) => (await stateOf(id)).status_details?.paused.subscription.type;
const invoicesOf = async (subscription: string) => (await stripe.invoices.list({ subscription })).data;
const openOf = async (subscription: string) =>
  (await invoicesOf(subscription)).find(({ status }) => status === 'open') as Stripe.Invoice;

describe('a failed payment', () => {
  test('pauses the subscription after the first failure of a renewal, and its invoice can still be paid', async () => {
    sandbox.payment.set({ first_failure: 'pause' });
    const { id } = await failing();
    expect(await stateOf(id)).toMatchObject({
      status: 'paused',
      status_details: { paused: { type: 'subscription', subscription: { type: 'first_payment_failure' } } },
    });
    expect(sandbox.payment.payInvoice((await openOf(id)).id as string)).toBeNull();
    expect((await stateOf(id)).status).toBe('paused');
  });

  test('pauses the subscription at the end of dunning, which then gets no further invoice', async () => {
    sandbox.payment.set({ dunning_end: 'pause' });
    const { id } = await failing();
    expect((await stateOf(id)).status).toBe('past_due');
    sandbox.payment.clock.advance({ days: 16 });
    expect(await reasonOf(id)).toBe('final_payment_failure');
    const count = (await invoicesOf(id)).length;
    sandbox.payment.clock.advance({ days: 70 });
    expect(await invoicesOf(id)).toHaveLength(count);
  });

  test('cancels a subscription that cannot be paused at the end of dunning', async () => {
    sandbox.payment.set({ dunning_end: 'pause' });
    const { id } = await failing();
    await stripe.subscriptionSchedules.create({ from_subscription: id });
    sandbox.payment.clock.advance({ days: 16 });
    expect((await stateOf(id)).status).toBe('canceled');
  });

  test.each(['paid', 'marked uncollectible'])(
    'with `paid_while_paused: resumes` the pause ends once its invoice is %s',
    async (how) => {
      sandbox.payment.set({ first_failure: 'pause', paid_while_paused: 'resumes' });
      const { id } = await failing();
      const invoice = (await openOf(id)).id as string;
      if (how === 'paid') sandbox.payment.payInvoice(invoice);
      else await stripe.invoices.markUncollectible(invoice);
      const state = await stateOf(id);
      expect(state).toMatchObject({ status: 'active' });
      expect(state.status_details).toBeUndefined();
      expect(sandbox.payment.events().map(({ type }) => type)).toContain('customer.subscription.resumed');
    },
  );
});

describe('a pause on request', () => {
  test('credits the unused time, and a resumption in the same period charges it again, at no cost today', async () => {
    const { id, items } = await buy();
    sandbox.payment.clock.advance({ days: 10 });
    expect(await stripe.subscriptions.pause(id)).toMatchObject({ status: 'paused' });
    expect(await reasonOf(id)).toBe('pause_requested');
    expect(await stripe.subscriptions.resume(id, unchanged)).toMatchObject({ status: 'active' });
    expect((await stateOf(id)).items.data[0]?.current_period_end).toBe(items.data[0]?.current_period_end);
    sandbox.payment.clock.advanceToPeriodEnd(id);
    expect((await invoicesOf(id)).map(({ amount_paid }) => amount_paid)).toEqual([2400, 2400]);
  });

  test('that lasts past the period charges only the rest of the period that it is resumed in', async () => {
    const { id, items } = await buy();
    await stripe.subscriptions.pause(id, { bill_for: { unused_time_from: { type: 'none' } } });
    sandbox.payment.clock.advance({ days: 45 });
    expect(await stripe.subscriptions.resume(id, unchanged)).toMatchObject({ status: 'active' });
    const [resumption] = await invoicesOf(id);
    expect(resumption?.status).toBe('paid');
    expect(resumption?.amount_paid).toBeGreaterThan(0);
    expect(resumption?.amount_paid).toBeLessThan(2400);
    expect((await stateOf(id)).items.data[0]?.current_period_start).toBe(items.data[0]?.current_period_end);
  });

  test('is refused for a subscription that is not active, or is managed by a schedule', async () => {
    const { id } = await buy();
    await stripe.subscriptionSchedules.create({ from_subscription: id });
    await expect(stripe.subscriptions.pause(id)).rejects.toMatchObject({ statusCode: 400 });
    await stripe.subscriptions.cancel(id);
    await expect(stripe.subscriptions.pause(id)).rejects.toMatchObject({ statusCode: 400 });
  });
});

describe('a resumption', () => {
  async function pausedForLong(): Promise<string> {
    const { id, customer } = await buy();
    await stripe.subscriptions.pause(id, { bill_for: { unused_time_from: { type: 'none' } } });
    sandbox.payment.setCard(customer as string, declinesLater);
    sandbox.payment.clock.advance({ days: 45 });
    return id;
  }

  test('whose charge is declined leaves the subscription paused with an open invoice, until that is paid', async () => {
    const id = await pausedForLong();
    expect(await stripe.subscriptions.resume(id, unchanged)).toMatchObject({ status: 'paused' });
    await expect(stripe.subscriptions.resume(id, unchanged)).rejects.toMatchObject({ statusCode: 400 });
    sandbox.payment.payInvoice((await openOf(id)).id as string, goodCard);
    expect(await stateOf(id)).toMatchObject({ status: 'active' });
  });

  test('on a payment attempt charges nothing at once: a failed attempt makes it past due, a paid one active', async () => {
    for (const [card, status] of [
      ['4000000000000002', 'past_due'],
      [goodCard, 'active'],
    ] as const) {
      const id = await pausedForLong();
      expect(await stripe.subscriptions.resume(id)).toMatchObject({ status: 'paused' });
      sandbox.payment.payInvoice((await openOf(id)).id as string, card);
      expect(await stateOf(id)).toMatchObject({ status });
    }
  });

  test('without a payment attempt is void after 23 hours, and can be requested again', async () => {
    const id = await pausedForLong();
    await stripe.subscriptions.resume(id);
    sandbox.payment.clock.advance({ hours: 23 });
    expect((await invoicesOf(id))[0]).toMatchObject({ status: 'void' });
    expect(await stripe.subscriptions.resume(id)).toMatchObject({ status: 'paused' });
  });

  test('takes its anchor as a hash, as the current API version does', async () => {
    const id = await pausedForLong();
    await expect(stripe.subscriptions.resume(id, { billing_cycle_anchor: 'now' as never })).rejects.toMatchObject({
      statusCode: 400,
    });
  });
});

test('an unpaid subscription’s invoices stay drafts; the newest one, finalised and paid, makes it active', async () => {
  sandbox.payment.set({ dunning_end: 'unpaid' });
  const { id } = await failing();
  sandbox.payment.clock.advance({ days: 40 });
  expect((await stateOf(id)).status).toBe('unpaid');
  const [newest, oldest] = await invoicesOf(id);
  expect([newest?.status, oldest?.status]).toEqual(['draft', 'open']);

  sandbox.payment.payInvoice(oldest?.id as string, goodCard);
  expect((await stateOf(id)).status).toBe('unpaid');
  const final = await stripe.invoices.finalizeInvoice(newest?.id as string, { auto_advance: false });
  expect(final).toMatchObject({ status: 'open', auto_advance: false });
  sandbox.payment.payInvoice(final.id as string, goodCard);
  expect((await stateOf(id)).status).toBe('active');
});
