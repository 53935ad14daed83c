import { expect, test } from 'vitest';
import { startPaymentSandbox } from '../start-payment-sandbox.ts';
import { sdk, startFakeService } from '../testing.ts';

test('the endpoint gets only the types that it subscribes to, and the others are not undelivered', async () => {
  const service = await startFakeService();
  const webhookEvents = ['customer.deleted'];
  const sandbox = await startPaymentSandbox({ webhookUrl: service.url, webhookEvents });
  const stripe = sdk(sandbox);
  expect((await stripe.webhookEndpoints.list()).data).toMatchObject([{ enabled_events: webhookEvents }]);
  const { id } = await stripe.customers.create({});
  await stripe.customers.del(id);
  await sandbox.payment.deliveries.settled();
  expect(service.received.map(({ event }) => event.type)).toEqual(['customer.deleted']);
  expect((await stripe.events.list({ delivery_success: false })).data).toEqual([]);
  await sandbox.close();
  await service.close();
});

test('a type that does not exist is refused at the start', async () => {
  const started = startPaymentSandbox({ webhookEvents: ['customer.vanished'] });
  await expect(started).rejects.toThrow('There is no event type customer.vanished.');
});
