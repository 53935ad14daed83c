import Stripe from 'stripe';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('a list of prices accepts at most ten lookup keys', async () => {
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `key_${index}`);
  expect((await stripe.prices.list({ lookup_keys: keys(10) })).data).toEqual([]);
  await expect(stripe.prices.list({ lookup_keys: keys(11) })).rejects.toMatchObject({
    statusCode: 400,
    param: 'lookup_keys',
  });
});

test('a lookup key moves to a new price only with transfer_lookup_key, and the old price loses it', async () => {
  const fresh = await startTestSandbox();
  const own = sdk(fresh);
  const price = {
    product: 'prod_sandbox_silver',
    currency: 'gbp',
    unit_amount: 2900,
    recurring: { interval: 'month' as const },
    lookup_key: 'silver_monthly',
  };
  await expect(own.prices.create(price)).rejects.toMatchObject({
    code: 'resource_already_exists',
    param: 'lookup_key',
  });
  const customer = await own.customers.create({ payment_method: 'pm_card_visa' });
  const methods = Object.values(fresh.payment.state().payment_methods);
  const method = methods.find((each) => each.customer === customer.id);
  const sold = await own.subscriptions.create({
    customer: customer.id,
    items: [{ price: silver }],
    default_payment_method: method?.id ?? '',
  });
  const next = await own.prices.create({ ...price, transfer_lookup_key: true });
  expect((await own.subscriptions.retrieve(sold.id)).items.data[0]?.price).toMatchObject({
    id: silver,
    lookup_key: null,
  });
  expect((await own.prices.list({ lookup_keys: ['silver_monthly'] })).data.map(({ id }) => id)).toEqual([next.id]);
  expect((await own.prices.retrieve(silver)).lookup_key).toBeNull();
  await fresh.close();
});

test('the amount of a price cannot be changed, and an amount with a fraction of a penny has no unit_amount', async () => {
  await expect(stripe.prices.update(silver, { unit_amount: 1 } as never)).rejects.toMatchObject({
    code: 'parameter_unknown',
  });
  const price = await stripe.prices.create({
    product: 'prod_sandbox_gold',
    currency: 'gbp',
    unit_amount_decimal: Stripe.Decimal.from('0.5'),
  });
  expect(price).toMatchObject({ unit_amount: null, type: 'one_time', recurring: null });
  expect(String(price.unit_amount_decimal)).toBe('0.5');
});
