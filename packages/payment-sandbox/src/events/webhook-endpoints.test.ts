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

describe('a webhook endpoint', () => {
  const url = 'https://id.example.com/webhooks/payment';

  test.each([['price.*'], ['price.changed'], ['*.created'], ['']])(
    'refuses %j, because it accepts exact event types only',
    async (...events) => {
      const enabled_events = events as Stripe.WebhookEndpointCreateParams.EnabledEvent[];
      const expected = { statusCode: 400, param: expect.stringContaining('enabled_events') };
      await expect(stripe.webhookEndpoints.create({ url, enabled_events })).rejects.toMatchObject(expected);
      const { id } = await stripe.webhookEndpoints.create({ url, enabled_events: ['*'] });
      await expect(stripe.webhookEndpoints.update(id, { enabled_events })).rejects.toMatchObject(expected);
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
  ])('cannot have the address %s', async (address) => {
    const expected = { statusCode: 400, param: 'url', code: 'url_invalid' };
    const params = { url: address, enabled_events: ['price.created' as const] };
    await expect(stripe.webhookEndpoints.create(params)).rejects.toMatchObject(expected);
    const { id } = await stripe.webhookEndpoints.create({ ...params, url });
    await expect(stripe.webhookEndpoints.update(id, { url: address })).rejects.toMatchObject(expected);
    await stripe.webhookEndpoints.del(id);
  });

  test.each([url, 'http://localhost:3000/x', 'http://127.0.0.1:3000/x', 'http://[::1]:3000/x'])(
    'can have the address %s',
    async (address) => {
      const { id } = await stripe.webhookEndpoints.create({ url: address, enabled_events: ['price.created'] });
      expect(await stripe.webhookEndpoints.del(id)).toMatchObject({ deleted: true });
    },
  );
});
