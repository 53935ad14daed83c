import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PaymentSandbox as Sandbox } from './start-payment-sandbox.ts';
import { type FakeService, sdk, startFakeService, startTestSandbox } from './testing.ts';

let service: FakeService;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await startFakeService();
  sandbox = await startTestSandbox({ serviceUrl: service.url });
});

afterAll(async () => {
  await sandbox.close();
  await service.close();
});

test('a customer buys, cancels, resumes and changes plan in the portal, and signed events announce every step', async () => {
  const stripe = sdk(sandbox);
  const prices = await stripe.prices.list({
    lookup_keys: ['silver_monthly', 'gold_monthly'],
    expand: ['data.product'],
  });
  expect(prices.data.map((price) => [price.lookup_key, price.unit_amount, price.currency])).toEqual([
    ['gold_monthly', 7900, 'gbp'],
    ['silver_monthly', 2400, 'gbp'],
  ]);
  expect(prices.data[0]?.product).toMatchObject({ name: 'Gold' });
  expect(String(prices.data[0]?.unit_amount_decimal)).toBe('7900');
  const silver = prices.data[1]?.id as string;
  const gold = prices.data[0]?.id as string;

  const customer = await stripe.customers.create({ metadata: { organisation: 'org_1' } });
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: customer.id,
    client_reference_id: 'org_1',
    line_items: [{ price: silver, quantity: 1 }],
    metadata: { organisation: 'org_1', tier: 'silver' },
    subscription_data: { metadata: { organisation: 'org_1', tier: 'silver' } },
    success_url: `${service.url}/billing?checkout=success`,
    cancel_url: `${service.url}/billing?checkout=cancel`,
  });
  expect(session).toMatchObject({ status: 'open', payment_status: 'unpaid', client_reference_id: 'org_1' });

  const shown = await fetch(session.url as string);
  expect(await shown.text()).toContain('£24.00');
  const declined = await pay(session.url as string, '4000000000000002');
  expect(declined.status).toBe(402);
  expect(await declined.text()).toContain('Your card was declined');
  const paid = await pay(session.url as string, '4242424242424242');
  expect(paid.status).toBe(303);
  expect(paid.headers.get('location')).toBe(`${service.url}/billing?checkout=success`);

  await sandbox.payment.deliveries.settled();
  expect(service.received.map(({ event }) => event.type)).toEqual([
    'customer.created',
    'payment_method.attached',
    'customer.subscription.created',
    'invoice.created',
    'invoice.finalized',
    'invoice.paid',
    'invoice.payment_succeeded',
    'customer.subscription.updated',
    'checkout.session.completed',
  ]);
  const done = await stripe.checkout.sessions.retrieve(session.id, {
    expand: ['subscription.latest_invoice', 'line_items'],
  });
  expect(done).toMatchObject({
    status: 'complete',
    payment_status: 'paid',
    subscription: { status: 'active', latest_invoice: { status: 'paid', amount_paid: 2400 } },
    line_items: { data: [{ price: { id: silver } }] },
  });

  const [subscription] = (await stripe.subscriptions.list({ customer: customer.id })).data;
  const id = subscription?.id as string;
  const cancelled = await stripe.subscriptions.update(id, { cancel_at_period_end: true });
  expect(cancelled.cancel_at).toBe(cancelled.items.data[0]?.current_period_end);
  const resumed = await stripe.subscriptions.update(id, { cancel_at_period_end: false });
  expect(resumed).toMatchObject({ cancel_at: null, cancel_at_period_end: false });

  const portal = await stripe.billingPortal.sessions.create({
    customer: customer.id,
    return_url: `${service.url}/billing`,
    flow_data: {
      type: 'subscription_update_confirm',
      subscription_update_confirm: {
        subscription: id,
        items: [{ id: subscription?.items.data[0]?.id as string, price: gold }],
      },
    },
  });
  const confirm = await (await fetch(portal.url)).text();
  expect(confirm).toContain('Change to Gold');
  const changed = await fetch(portal.url, {
    method: 'POST',
    body: new URLSearchParams({ act: 'plan', subscription: id, price: gold }),
    redirect: 'manual',
  });
  expect(changed.status).toBe(303);
  expect((await stripe.subscriptions.retrieve(id)).items.data[0]?.price.id).toBe(gold);

  await fetch(portal.url, { method: 'POST', body: new URLSearchParams({ act: 'cancel', subscription: id }) });
  const ending = await stripe.subscriptions.retrieve(id);
  expect(ending).toMatchObject({ cancel_at_period_end: false, cancel_at: ending.items.data[0]?.current_period_end });
  expect((await stripe.subscriptions.update(id, { cancel_at: '' })).cancel_at).toBeNull();
  await sandbox.payment.deliveries.settled();
  expect(service.refused).toBe(0);
  expect((await stripe.events.list({ delivery_success: false })).data).toEqual([]);
});

function pay(url: string, card: string): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams({ card }), redirect: 'manual' });
}
