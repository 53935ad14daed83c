import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PaymentSandbox } from '../start-payment-sandbox.ts';
import { type FakeService, sdk, startFakeService, startTestSandbox } from '../testing.ts';

let service: FakeService;
let sandbox: PaymentSandbox;
beforeEach(async () => {
  service = await startFakeService();
  sandbox = await startTestSandbox({ serviceUrl: service.url });
});
afterEach(async () => {
  await sandbox.close();
  await service.close();
});

test('events of the time in which the endpoint is disabled are not delivered, and not listed as undelivered', async () => {
  const stripe = sdk(sandbox);
  await stripe.customers.create({ name: 'before' });
  sandbox.payment.disableWebhook(true);
  expect((await stripe.webhookEndpoints.list()).data).toMatchObject([{ status: 'disabled' }]);
  const missed = await stripe.customers.create({ name: 'meanwhile' });
  sandbox.payment.disableWebhook(false);
  await stripe.customers.create({ name: 'after' });
  await sandbox.payment.deliveries.settled();

  const names = service.received.map(({ event }) => (event.data.object as { name?: string }).name);
  expect(names).toEqual(['before', 'after']);
  expect((await stripe.events.list({ delivery_success: false })).data).toEqual([]);
  const all = await stripe.events.list({ types: ['customer.created'], created: { gte: missed.created } });
  expect(all.data.map(({ data }) => (data.object as { id: string }).id)).toContain(missed.id);
});

test('an endpoint that was disabled stays so when its address is set again', async () => {
  sandbox.payment.disableWebhook(true);
  sandbox.payment.setWebhookUrl(`${service.url}/webhooks/payment`);
  expect((await sdk(sandbox).webhookEndpoints.list()).data[0]?.status).toBe('disabled');
});
