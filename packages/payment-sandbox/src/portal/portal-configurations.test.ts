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

  test('shows for each product whether its quantity can be changed', async () => {
    const products = async (quantity?: Quantity) => (await configure(quantity)).features.subscription_update.products;
    const fixed = { enabled: false, maximum: null, minimum: 1 };
    expect(await products()).toMatchObject([{ adjustable_quantity: fixed }]);
    expect(await products({ enabled: true, maximum: 9 })).toMatchObject([
      { adjustable_quantity: { enabled: true, maximum: 9, minimum: 1 } },
    ]);
    await expect(products({ enabled: true, minimum: 5, maximum: 4 })).rejects.toMatchObject({ statusCode: 400 });
  });

  test('keeps the members that an update does not name, also in nested objects', async () => {
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

  test('refuses to change a subscription with several items, or several items at once', async () => {
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
