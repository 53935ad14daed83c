import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PaymentSandbox as Sandbox } from '../start-payment-sandbox.ts';
import { type FakeService, sdk, startFakeService, startTestSandbox } from '../testing.ts';

let service: FakeService;
let sandbox: Sandbox;

beforeEach(async () => {
  service = await startFakeService();
  sandbox = await startTestSandbox({ serviceUrl: service.url });
  sandbox.payment.set({ retry_first_ms: 10, retry_longest_ms: 40 });
});
afterEach(async () => {
  await sandbox.close();
  await service.close();
});

test('a delivery has both signature headers, and its event names the request that caused it', async () => {
  await makeCustomers(1);
  const [delivered] = service.received;
  expect(delivered?.headers['payment-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  expect(delivered?.headers['stripe-signature']).toBe(delivered?.headers['payment-signature']);
  expect(delivered?.event).toMatchObject({ object: 'event', livemode: false, type: 'customer.created' });
  expect(delivered?.event.request?.idempotency_key).toBeTruthy();
});

test('a delivery that gets an error is retried until it succeeds', async () => {
  service.answers = [500, 302, 400];
  await makeCustomers(1);
  expect((await sdk(sandbox).events.list({ delivery_success: false })).data).toHaveLength(1);
  await sandbox.payment.deliveries.settled({ retries: true });
  const [delivery] = sandbox.payment.deliveries.list();
  expect(delivery?.attempts.map(({ status }) => status)).toEqual([500, 302, 400, 200]);
  expect((await sdk(sandbox).events.list({ delivery_success: true, type: 'customer.created' })).data).toHaveLength(1);
});

test('a delivery to an unreachable service is retried, and fails after the last attempt', async () => {
  sandbox.payment.set({ delivery_attempts: 3 });
  sandbox.payment.setWebhookUrl('http://127.0.0.1:1/webhooks/payment');
  await sdk(sandbox).customers.create({});
  await sandbox.payment.deliveries.settled({ retries: true });
  const [delivery] = sandbox.payment.deliveries.list();
  expect(delivery).toMatchObject({ state: 'failed', attempts: [{ status: null }, { status: null }, { status: null }] });
  sandbox.payment.setWebhookUrl(service.url);
  sandbox.payment.deliveries.resend(delivery?.id as string);
  await sandbox.payment.deliveries.settled();
  expect(service.received).toHaveLength(1);
});

test('deliveries can be duplicated, dropped and sent later, delayed, or signed with a wrong secret', async () => {
  sandbox.payment.set({ duplicate_deliveries: true });
  await makeCustomers(1);
  expect(new Set(service.received.map(({ event }) => event.id)).size).toBe(1);
  expect(service.received).toHaveLength(2);

  sandbox.payment.set({ duplicate_deliveries: false, drop_deliveries: true });
  await makeCustomers(2);
  expect(service.received).toHaveLength(2);
  expect((await sdk(sandbox).events.list({ delivery_success: false })).data).toHaveLength(2);
  sandbox.payment.set({ drop_deliveries: false });
  expect(sandbox.payment.deliveries.sendDropped()).toBe(2);
  await sandbox.payment.deliveries.settled();
  expect(service.received).toHaveLength(4);

  sandbox.payment.set({ delivery_delay_ms: 150 });
  const before = Date.now();
  await makeCustomers(1);
  expect(Date.now() - before).toBeGreaterThanOrEqual(150);

  sandbox.payment.set({ delivery_delay_ms: 0, wrong_signature: true });
  await makeCustomers(1);
  expect(service.refused).toBeGreaterThan(0);
  sandbox.payment.set({ wrong_signature: false });
  await sandbox.payment.deliveries.settled({ retries: true });
  expect(service.received).toHaveLength(6);
});

test('events can arrive in any order, with the same second, and twice with different ids', async () => {
  sandbox.payment.set({ reorder_deliveries: true, same_second: true, duplicate_events: true });
  await makeCustomers(8);
  const made = sandbox.payment
    .events()
    .map(({ id }) => id)
    .slice(-16);
  const came = service.received.map(({ event }) => event.id);
  expect(came).not.toEqual(made);
  expect(came.toSorted()).toEqual(made.toSorted());
  expect(new Set(service.received.map(({ event }) => event.created)).size).toBe(1);
});

test('payloads can have the shape of older API versions', async () => {
  sandbox.payment.set({ old_payload_shape: true });
  const stripe = sdk(sandbox);
  const customer = await stripe.customers.create({});
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: customer.id,
    line_items: [{ price: 'price_sandbox_silver_monthly' }],
    success_url: 'http://localhost/ok',
  });
  sandbox.payment.payCheckout(session.id);
  await sandbox.payment.deliveries.settled();
  const of = (type: string) =>
    service.received.find(({ event }) => event.type === type)?.event.data.object as never as Record<string, unknown>;
  expect(of('customer.subscription.created').current_period_end).toBeTypeOf('number');
  expect(of('customer.subscription.created').items).not.toHaveProperty('data.0.current_period_end');
  expect(of('invoice.paid')).toMatchObject({ subscription: of('customer.subscription.created').id });
});

test('any event can be emitted, in any mode', async () => {
  sandbox.payment.emit('charge.refunded', { id: 'ch_1', object: 'charge', customer: 'cus_1' }, { livemode: true });
  await sandbox.payment.deliveries.settled();
  expect(service.received[0]?.event).toMatchObject({ type: 'charge.refunded', livemode: true });
});

test('waiting deliveries, customers, switches and the clock are kept across a restart', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sandbox-'));
  const first = await startTestSandbox({ serviceUrl: 'http://127.0.0.1:1', dataDir });
  first.payment.set({ retry_first_ms: 1, retry_longest_ms: 1000, dunning_end: 'unpaid' });
  const customer = await sdk(first).customers.create({ name: 'Kept' });
  first.payment.clock.advance({ days: 3 });
  await first.payment.deliveries.settled();
  await first.close();

  const second = await startTestSandbox({ serviceUrl: service.url, dataDir });
  await second.payment.deliveries.settled({ retries: true });
  expect(service.received.map(({ event }) => event.type)).toEqual(['customer.created']);
  expect((await sdk(second).customers.retrieve(customer.id)) as object).toMatchObject({ name: 'Kept' });
  expect(second.payment.switches().dunning_end).toBe('unpaid');
  expect(second.payment.clock.now() - Date.now() / 1000).toBeGreaterThan(2.9 * 86_400);
  await second.close();
  await rm(dataDir, { recursive: true });
});

async function makeCustomers(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await sdk(sandbox).customers.create({});
  await sandbox.payment.deliveries.settled();
}
