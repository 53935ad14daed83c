import type Stripe from 'stripe';
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

test('a list of events accepts one type, or at most twenty', async () => {
  const types = Array.from({ length: 20 }, () => 'price.created');
  expect((await stripe.events.list({ types })).data.length).toBeGreaterThan(0);
  const expected = { statusCode: 400, param: 'types' };
  await expect(stripe.events.list({ types: [...types, 'price.updated'] })).rejects.toMatchObject(expected);
  await expect(stripe.events.list({ types, type: 'price.created' })).rejects.toMatchObject(expected);
});
