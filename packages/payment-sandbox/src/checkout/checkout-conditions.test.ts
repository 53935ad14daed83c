import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { postForm, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

type Params = Stripe.Checkout.SessionCreateParams;

function open(params: Partial<Params> = {}): Promise<Stripe.Checkout.Session> {
  return setup.stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: silver, quantity: 1 }],
    success_url: 'http://localhost:3000/billing?checkout=success',
    ...params,
  });
}

async function customer(): Promise<string> {
  return (await setup.stripe.customers.create({})).id;
}

test.each<[string, Partial<Params>]>([
  ['managed_payments', { managed_payments: { enabled: true } }],
  ['adaptive_pricing', { adaptive_pricing: { enabled: true } }],
  ['payment_method_options', { payment_method_options: { card: { request_three_d_secure: 'any' } } }],
  ['payment_method_collection', { payment_method_collection: 'if_required' }],
  ['phone_number_collection', { phone_number_collection: { enabled: true } }],
  ['consent_collection', { consent_collection: { terms_of_service: 'required' } }],
  ['submit_type', { submit_type: 'subscribe' }],
])('a checkout with %s is refused, not opened without it', async (param, params) => {
  await expect(open(params)).rejects.toMatchObject({ statusCode: 400, code: 'sandbox_unsupported', param });
});

test('a trial has at least one day, or ends at least two days ahead, and is given once', async () => {
  const trial = (subscription_data: Params['subscription_data']) => open({ subscription_data });
  const soon = setup.sandbox.payment.clock.now() + 3600;
  await expect(trial({ trial_period_days: 0 })).rejects.toMatchObject({
    code: 'parameter_invalid_integer',
    param: 'subscription_data[trial_period_days]',
  });
  await expect(trial({ trial_end: soon })).rejects.toMatchObject({ param: 'subscription_data[trial_end]' });
  await expect(trial({ trial_end: soon + 900_000, trial_period_days: 3 })).rejects.toMatchObject({ statusCode: 400 });
  expect((await trial({ trial_period_days: 1 })).status).toBe('open');
});

test('a currency that the price does not have is refused', async () => {
  await expect(open({ currency: 'eur' })).rejects.toMatchObject({ statusCode: 400, param: 'currency' });
  expect((await open({ currency: 'gbp' })).currency).toBe('gbp');
  await expect(
    setup.stripe.subscriptions.create({ customer: await customer(), items: [{ price: silver }], currency: 'eur' }),
  ).rejects.toMatchObject({ statusCode: 400, param: 'currency' });
});

describe('customer_update', () => {
  test('is refused without a customer', async () => {
    await expect(open({ customer_update: { name: 'auto' } })).rejects.toMatchObject({ param: 'customer_update' });
  });

  test.each([
    ['auto', 'Larch Ltd', 'FR'],
    ['never', 'Larch', undefined],
  ] as const)('%s decides whether the page changes the customer’s name and address', async (update, name, country) => {
    const { id } = await setup.stripe.customers.create({ name: 'Larch' });
    const { url } = await open({
      customer: id,
      billing_address_collection: 'required',
      customer_update: { name: update, address: update },
    });
    await postForm(url as string, { card: '4242424242424242', name: 'Larch Ltd', country: 'fr' });
    const bought = (await setup.stripe.customers.retrieve(id)) as Stripe.Customer;
    expect([bought.name, bought.address?.country]).toEqual([name, country]);
  });
});

test('the page asks for the e-mail address that the customer lacks, and saves it', async () => {
  const id = await customer();
  const { url } = await open({ customer: id });
  expect(await (await fetch(url as string)).text()).toContain('name="email"');
  await postForm(url as string, { card: '4242424242424242', email: 'buyer@larch.example' });
  expect(await setup.stripe.customers.retrieve(id)).toMatchObject({ email: 'buyer@larch.example' });
});

describe('automatic tax', () => {
  const automatic_tax = { enabled: true };

  test('of an existing customer needs its address, or the permission to save the one that is entered', async () => {
    const id = await customer();
    await expect(open({ automatic_tax, customer: id })).rejects.toMatchObject({
      code: 'customer_tax_location_invalid',
    });
    await setup.stripe.customers.update(id, { address: { country: 'GB' } });
    expect((await open({ automatic_tax, customer: id })).automatic_tax).toMatchObject({ enabled: true });
  });

  test('is 0, because the account has no registration, and is enabled on the subscription and its invoice', async () => {
    const { id, url } = await open({
      automatic_tax,
      customer: await customer(),
      customer_update: { address: 'auto' },
    });
    await postForm(url as string, { card: '4242424242424242', country: 'DE' });
    const session = await setup.stripe.checkout.sessions.retrieve(id, { expand: ['subscription', 'invoice'] });
    expect(session).toMatchObject({
      automatic_tax: { enabled: true, status: 'complete' },
      customer_details: { address: { country: 'DE' } },
      subscription: { automatic_tax: { enabled: true } },
      invoice: { automatic_tax: { enabled: true, status: 'complete' }, total: 2400 },
    });
  });
});

test('a tax number is collected, of an existing customer only with its name', async () => {
  const tax_id_collection = { enabled: true };
  const id = await customer();
  await expect(open({ tax_id_collection, customer: id })).rejects.toMatchObject({ message: /customer_update\[name\]/ });
  const { id: session, url } = await open({ tax_id_collection, customer: id, customer_update: { name: 'auto' } });
  await postForm(url as string, { card: '4242424242424242', name: 'Larch Ltd', tax_id: 'GB123456789' });
  expect(await setup.stripe.checkout.sessions.retrieve(session)).toMatchObject({
    tax_id_collection: { enabled: true, required: 'never' },
    customer_details: { tax_ids: [{ value: 'GB123456789' }] },
  });
});

test('a page that takes promotion codes finds every code invalid, because there are none', async () => {
  const { url } = await open({ allow_promotion_codes: true });
  const refused = await postForm(url as string, { card: '4242424242424242', promotion_code: 'HALF' });
  expect([refused.status, await refused.text()]).toEqual([402, expect.stringContaining('This code is invalid')]);
  expect((await postForm(url as string, { card: '4242424242424242' })).status).toBe(303);
});
