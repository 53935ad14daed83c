import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PaymentSandbox } from '../start-payment-sandbox.ts';
import { sdk, startTestSandbox } from '../testing.ts';

let sandbox: PaymentSandbox;
let stripe: Stripe;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  stripe = sdk(sandbox);
});
afterAll(() => sandbox.close());

const silver = 'price_sandbox_silver_monthly';
const gold = 'price_sandbox_gold_monthly';

describe('prorations that wait for the next invoice', () => {
  async function changed(card = 'pm_card_visa') {
    const customer = (await stripe.customers.create({ payment_method: card })).id;
    const [method] = (await stripe.paymentMethods.list({ customer })).data;
    const subscription = await stripe.subscriptions.create({
      customer,
      default_payment_method: method?.id as string,
      items: [{ price: silver }],
    });
    await stripe.subscriptionItems.update(subscription.items.data[0]?.id as string, { price: gold });
    return subscription;
  }

  const invoicesOf = async (subscription: string) => (await stripe.invoices.list({ subscription })).data;

  test('are collected at the end of a scheduled cancellation, by a last invoice that is charged', async () => {
    const { id } = await changed();
    const { cancel_at } = await stripe.subscriptions.update(id, { cancel_at_period_end: true });
    sandbox.payment.clock.advanceTo(cancel_at as number);
    const ended = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
    expect(ended).toMatchObject({ status: 'canceled', latest_invoice: { status: 'draft' } });
    sandbox.payment.clock.advance({ hours: 1 });
    const [last, ...others] = await invoicesOf(id);
    expect(others).toHaveLength(1);
    expect(last).toMatchObject({ status: 'paid', lines: { data: [{}, {}] } });
    expect(last?.amount_paid).toBeCloseTo(5500, -2);
    expect((await stripe.subscriptions.retrieve(id)).status).toBe('canceled');
  });

  test('that cannot be collected leave the subscription cancelled, with one event', async () => {
    const { id, customer } = await changed();
    sandbox.payment.setCard(customer as string, '4000000000000341');
    await stripe.subscriptions.update(id, { cancel_at_period_end: true });
    for (const dunning_end of ['cancel', 'unpaid'] as const) {
      sandbox.payment.set({ dunning_end });
      sandbox.payment.clock.advance({ days: 60 });
      expect((await stripe.subscriptions.retrieve(id)).status).toBe('canceled');
    }
    sandbox.payment.resetSwitches();
    const ends = sandbox.payment
      .events()
      .filter(
        ({ type, data }) => type === 'customer.subscription.deleted' && (data.object as { id: string }).id === id,
      );
    expect(ends).toHaveLength(1);
  });

  test('are dropped by a cancellation at once', async () => {
    const { id } = await changed();
    await stripe.subscriptions.cancel(id);
    sandbox.payment.clock.advance({ days: 2 });
    expect(await invoicesOf(id)).toHaveLength(1);
  });
});
