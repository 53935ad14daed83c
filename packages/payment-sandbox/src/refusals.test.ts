import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PaymentSandbox as Sandbox } from './start-payment-sandbox.ts';
import { sdk, startTestSandbox } from './testing.ts';

let sandbox: Sandbox;
let stripe: Stripe;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  stripe = sdk(sandbox);
});
afterAll(() => sandbox.close());

const silver = 'price_sandbox_silver_monthly';
const gold = 'price_sandbox_gold_monthly';

describe('a webhook endpoint', () => {
  const url = 'https://id.example.com/webhooks/payment';

  test.each([['price.*'], ['price.changed'], ['*.created'], ['']])(
    'names events one by one: not %j',
    async (...events) => {
      const enabled_events = events as Stripe.WebhookEndpointCreateParams.EnabledEvent[];
      const refusal = { statusCode: 400, param: expect.stringContaining('enabled_events') };
      await expect(stripe.webhookEndpoints.create({ url, enabled_events })).rejects.toMatchObject(refusal);
      const { id } = await stripe.webhookEndpoints.create({ url, enabled_events: ['*'] });
      await expect(stripe.webhookEndpoints.update(id, { enabled_events })).rejects.toMatchObject(refusal);
      expect((await stripe.webhookEndpoints.retrieve(id)).enabled_events).toEqual(['*']);
      await stripe.webhookEndpoints.del(id);
    },
  );

  test.each([
    'nonsense',
    'id.example.com',
    'http://id.example.com/x',
    'ftp://localhost/x',
    'http://127.0.0.1.example.com',
  ])('cannot be at %s', async (address) => {
    const refusal = { statusCode: 400, param: 'url', code: 'url_invalid' };
    const asked = { url: address, enabled_events: ['price.created' as const] };
    await expect(stripe.webhookEndpoints.create(asked)).rejects.toMatchObject(refusal);
    const { id } = await stripe.webhookEndpoints.create({ ...asked, url });
    await expect(stripe.webhookEndpoints.update(id, { url: address })).rejects.toMatchObject(refusal);
    await stripe.webhookEndpoints.del(id);
  });

  test.each([url, 'http://localhost:3000/x', 'http://127.0.0.1:3000/x', 'http://[::1]:3000/x'])(
    'can be at %s',
    async (address) => {
      const { id } = await stripe.webhookEndpoints.create({ url: address, enabled_events: ['price.created'] });
      expect(await stripe.webhookEndpoints.del(id)).toMatchObject({ deleted: true });
    },
  );
});

test('a list of prices names ten lookup keys at most', async () => {
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `key_${index}`);
  expect((await stripe.prices.list({ lookup_keys: keys(10) })).data).toEqual([]);
  await expect(stripe.prices.list({ lookup_keys: keys(11) })).rejects.toMatchObject({
    statusCode: 400,
    param: 'lookup_keys',
  });
});

test('a list of events names one type, or twenty at most', async () => {
  const types = Array.from({ length: 20 }, () => 'price.created');
  expect((await stripe.events.list({ types })).data.length).toBeGreaterThan(0);
  const refusal = { statusCode: 400, param: 'types' };
  await expect(stripe.events.list({ types: [...types, 'price.updated'] })).rejects.toMatchObject(refusal);
  await expect(stripe.events.list({ types, type: 'price.created' })).rejects.toMatchObject(refusal);
});

describe('the portal', () => {
  type Quantity = Stripe.BillingPortal.ConfigurationCreateParams.Features.SubscriptionUpdate.Product.AdjustableQuantity;

  function configure(adjustable_quantity?: Quantity) {
    const product = {
      product: 'prod_sandbox_gold',
      prices: [gold],
      ...(adjustable_quantity && { adjustable_quantity }),
    };
    return stripe.billingPortal.configurations.create({
      features: {
        subscription_cancel: { enabled: true, cancellation_reason: { enabled: true, options: ['other'] } },
        subscription_update: { enabled: true, default_allowed_updates: ['price'], products: [product] },
      },
    });
  }

  test('says of each product whether its quantity can be changed', async () => {
    const products = async (quantity?: Quantity) => (await configure(quantity)).features.subscription_update.products;
    const fixed = { enabled: false, maximum: null, minimum: 1 };
    expect(await products()).toMatchObject([{ adjustable_quantity: fixed }]);
    expect(await products({ enabled: true, maximum: 9 })).toMatchObject([
      { adjustable_quantity: { enabled: true, maximum: 9, minimum: 1 } },
    ]);
    await expect(products({ enabled: true, minimum: 5, maximum: 4 })).rejects.toMatchObject({ statusCode: 400 });
  });

  test('keeps what an update does not name, within inner objects too', async () => {
    const { id } = await configure();
    const updated = await stripe.billingPortal.configurations.update(id, {
      features: { subscription_cancel: { cancellation_reason: { enabled: false } } },
    });
    expect(updated.features.subscription_cancel).toMatchObject({
      enabled: true,
      cancellation_reason: { enabled: false, options: ['other'], feedback_options: null },
    });
    expect(updated.features.subscription_update.products).toHaveLength(1);
  });

  test('changes no subscription of several items, and no several items at once', async () => {
    const customer = (await stripe.customers.create({ payment_method: 'pm_card_visa' })).id;
    const [method] = (await stripe.paymentMethods.list({ customer })).data;
    const start = (prices: string[]) =>
      stripe.subscriptions.create({
        customer,
        default_payment_method: method?.id as string,
        items: prices.map((price) => ({ price })),
      });
    const open = (flow_data: Stripe.BillingPortal.SessionCreateParams.FlowData) =>
      stripe.billingPortal.sessions.create({ customer, flow_data });
    const confirm = (subscription: Stripe.Subscription, count: number) =>
      open({
        type: 'subscription_update_confirm',
        subscription_update_confirm: {
          subscription: subscription.id,
          items: subscription.items.data.slice(0, count).map(({ id }) => ({ id, price: gold })),
        },
      });

    const [one, two] = [await start([silver]), await start([silver, gold])];
    expect((await confirm(one, 1)).flow?.subscription_update_confirm?.subscription).toBe(one.id);
    await expect(confirm(two, 2)).rejects.toMatchObject({ statusCode: 400 });
    await expect(confirm(two, 1)).rejects.toMatchObject({ statusCode: 400, message: /multiple items/ });
    const choose = { type: 'subscription_update' as const, subscription_update: { subscription: two.id } };
    await expect(open(choose)).rejects.toMatchObject({ statusCode: 400, message: /multiple items/ });
    const visit = sandbox.payment.portal((await stripe.billingPortal.sessions.create({ customer })).id);
    expect(() => visit.changePlan(two.id, gold)).toThrow('Plans cannot be changed in this portal.');
  });
});

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

  test('that cannot be collected leave the subscription ended, once', async () => {
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
