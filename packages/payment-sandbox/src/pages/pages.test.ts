import type Stripe from 'stripe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PaymentSandbox as Sandbox } from '../start-payment-sandbox.ts';
import { sdk, startTestSandbox } from '../testing.ts';

let sandbox: Sandbox;
let stripe: Stripe;
let customer: Stripe.Customer;
let subscription: Stripe.Subscription;

beforeAll(async () => {
  sandbox = await startTestSandbox();
  stripe = sdk(sandbox);
  customer = await stripe.customers.create({ name: '<b>Northwind</b>' });
  sandbox.payment.payCheckout((await checkout()).id);
  subscription = (await stripe.subscriptions.list({ customer: customer.id })).data[0] as Stripe.Subscription;
});
afterAll(() => sandbox.close());

test('the checkout shows buyer, order and return link, and escapes their markup', async () => {
  const session = await checkout();
  const page = await read(session.url as string);
  for (const part of [
    'Silver',
    '£24.00 a month',
    '&#60;b&#62;Northwind',
    'href="http://localhost:3000/billing?checkout=cancel"',
    'Sandbox.',
    'lang="en-GB"',
  ]) {
    expect(page).toContain(part);
  }
  expect((await post(session.url as string, { card: '1234' })).status).toBe(402);
  const paid = await post(session.url as string, { card: '4242 4242 4242 4242' });
  expect(paid.headers.get('location')).toBe(`http://localhost:3000/billing?checkout=success&session=${session.id}`);
  expect((await post(session.url as string, { card: '4242424242424242' })).status).toBe(409);
  expect(await read(session.url as string)).toContain('This order has been paid');
  await stripe.subscriptions.cancel(
    ((await stripe.checkout.sessions.retrieve(session.id)).subscription as string) ?? '',
  );
});

test('the checkout shows no id in place of a missing name', async () => {
  const nameless = await stripe.customers.create({ metadata: { organisation: 'an-id' } });
  const { url } = await checkout(nameless.id);
  expect(await read(url as string)).not.toMatch(/an-id|<dt>For/);
});

test('the portal changes card and plan, cancels and resumes if its configuration allows it', async () => {
  const { url } = await stripe.billingPortal.sessions.create({
    customer: customer.id,
    return_url: 'http://localhost:3000/billing',
  });
  expect(await read(url)).toContain('href="http://localhost:3000/billing"');
  const declined = await post(url, { act: 'card', card: '4000000000000002' });
  expect([declined.status, await declined.text()]).toEqual([402, expect.stringContaining('Your card was declined')]);
  expect((await post(url, { act: 'card', card: '4000000000000341' })).status).toBe(303);
  expect(await read(url)).toContain('ends in 0341');
  expect((await post(url, { act: 'card', card: '4242424242424242' })).status).toBe(303);
  await post(url, { act: 'cancel', subscription: subscription.id });
  expect(await read(url)).toContain('Keep Silver');
  await post(url, { act: 'resume', subscription: subscription.id });
  expect((await stripe.subscriptions.retrieve(subscription.id)).cancel_at).toBeNull();
  expect((await post(url, { act: 'fly' })).status).toBe(402);

  const narrow = await stripe.billingPortal.configurations.create({
    features: { payment_method_update: { enabled: true } },
  });
  const other = await stripe.billingPortal.sessions.create({ customer: customer.id, configuration: narrow.id });
  expect(await read(other.url)).not.toContain('Cancel Silver');
  expect((await post(other.url, { act: 'cancel', subscription: subscription.id })).status).toBe(402);
  expect(
    (await post(other.url, { act: 'plan', subscription: subscription.id, price: 'price_sandbox_gold_monthly' })).status,
  ).toBe(402);
});

test('a flow shows its single task and ends at its return URL', async () => {
  const flow = (data: Stripe.BillingPortal.SessionCreateParams['flow_data']) =>
    stripe.billingPortal.sessions.create({ customer: customer.id, flow_data: data as never });
  const after = { type: 'redirect' as const, redirect: { return_url: 'http://localhost:3000/billing?done' } };
  const card = await flow({ type: 'payment_method_update', after_completion: after });
  expect(await read(card.url)).toContain('Change your card');
  const saved = await post(card.url, { act: 'card', card: '4242424242424242' });
  expect(saved.headers.get('location')).toBe('http://localhost:3000/billing?done');
  const cancel = await flow({ type: 'subscription_cancel', subscription_cancel: { subscription: subscription.id } });
  expect(await read(cancel.url)).toContain('Your plan stays until');
  const change = await flow({ type: 'subscription_update', subscription_update: { subscription: subscription.id } });
  expect(await read(change.url)).toContain('Change to Gold');
});

test.each([
  ['always_invoice', /difference for the rest of the period is charged now/],
  ['create_prorations', /difference is on your next invoice/],
  ['none', /new price applies from your next invoice/],
] as const)(
  'a portal with the proration behaviour %s says when a change of plan is charged',
  async (proration_behavior, sentence) => {
    const products = ['silver', 'gold'].map((tier) => ({
      product: `prod_sandbox_${tier}`,
      prices: [`price_sandbox_${tier}_monthly`],
    }));
    const { id } = await stripe.billingPortal.configurations.create({
      features: {
        subscription_update: { enabled: true, default_allowed_updates: ['price'], products, proration_behavior },
      },
    });
    const open = (flow_data?: Stripe.BillingPortal.SessionCreateParams.FlowData) =>
      stripe.billingPortal.sessions.create({
        customer: customer.id,
        configuration: id,
        ...(flow_data && { flow_data }),
      });
    const items = [{ id: subscription.items.data[0]?.id ?? '', price: 'price_sandbox_gold_monthly', quantity: 1 }];
    const confirm = await open({
      type: 'subscription_update_confirm',
      subscription_update_confirm: { subscription: subscription.id, items },
    });
    expect(await read(confirm.url)).toMatch(sentence);
    expect(await read((await open()).url)).toMatch(sentence);
  },
);

test('the seeded portal configuration charges a change of plan as the real provider does by default', async () => {
  const [standard] = (await stripe.billingPortal.configurations.list({ is_default: true })).data;
  expect(standard?.features.subscription_update).toMatchObject({ enabled: true, proration_behavior: 'none' });
});

test('a portal configuration without products, or with unknown ones, is refused', async () => {
  const update = (products: { product: string; prices: string[] }[]) =>
    stripe.billingPortal.configurations.create({
      features: { subscription_update: { enabled: true, default_allowed_updates: ['price'], products } },
    });
  await expect(update([])).rejects.toMatchObject({ code: 'parameter_missing' });
  await expect(update([{ product: 'prod_sandbox_gold', prices: ['price_none'] }])).rejects.toMatchObject({
    code: 'resource_missing',
  });
  await expect(
    update([{ product: 'prod_sandbox_gold', prices: ['price_sandbox_silver_monthly'] }]),
  ).rejects.toMatchObject({
    message: /does not belong/,
  });
  const made = await update([{ product: 'prod_sandbox_gold', prices: ['price_sandbox_gold_monthly'] }]);
  const changed = await stripe.billingPortal.configurations.update(made.id, {
    features: { invoice_history: { enabled: true } },
    metadata: { gatehouse: 'portal' },
  });
  expect(changed.features).toMatchObject({
    invoice_history: { enabled: true },
    subscription_update: { enabled: true },
  });
  expect((await stripe.billingPortal.configurations.list({ active: true })).data.map(({ id }) => id)).toContain(
    made.id,
  );
});

function checkout(customerId = customer.id): Promise<Stripe.Checkout.Session> {
  return stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: customerId,
    client_reference_id: 'an-id',
    line_items: [{ price: 'price_sandbox_silver_monthly', quantity: 1 }],
    success_url: 'http://localhost:3000/billing?checkout=success&session={CHECKOUT_SESSION_ID}',
    cancel_url: 'http://localhost:3000/billing?checkout=cancel',
  });
}

async function read(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return response.text();
}

function post(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}
