import Stripe from 'stripe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PaymentProvider } from '../payment-controls.ts';
import type { PaymentSandbox as Sandbox } from '../start-payment-sandbox.ts';
import { sdk, startTestSandbox } from '../testing.ts';

const liveKey = 'sk_live_sandbox';
const foreignKey = 'sk_test_foreign';

let sandbox: Sandbox;
let live: PaymentProvider;
let stripe: { test: Stripe; live: Stripe; foreign: Stripe };
beforeAll(async () => {
  sandbox = await startTestSandbox();
  live = sandbox.payment.openAccount({ secretKey: liveKey, livemode: true });
  sandbox.payment.openAccount({ secretKey: foreignKey, account: 'another' });
  const { hostname: host, port } = new URL(sandbox.payment.apiUrl);
  const withKey = (key: string) => new Stripe(key, { host, port, protocol: 'http', maxNetworkRetries: 0 });
  stripe = { test: sdk(sandbox), live: withKey(liveKey), foreign: withKey(foreignKey) };
});
afterAll(() => sandbox.close());

test('a request with the key of the other mode gets the hint that a similar object exists there', async () => {
  const { id } = await stripe.test.customers.create({});
  await expect(stripe.live.customers.retrieve(id)).rejects.toMatchObject({
    statusCode: 404,
    code: 'resource_missing',
    param: 'id',
    message: `No such customer: '${id}'; a similar object exists in test mode, but a live mode key was used to make this request.`,
  });
  for (const list of [stripe.live.subscriptions, stripe.live.checkout.sessions]) {
    await expect(list.list({ customer: id })).rejects.toMatchObject({
      statusCode: 400,
      code: 'resource_missing',
      param: 'customer',
    });
  }
});

test('a request with the key of another account gets no hint', async () => {
  const { id } = await stripe.test.customers.create({});
  await expect(stripe.foreign.customers.retrieve(id)).rejects.toMatchObject({
    code: 'resource_missing',
    message: `No such customer: '${id}'`,
  });
});

test('a deleted customer is shown as deleted, and only to its own key', async () => {
  const { id } = await stripe.test.customers.create({});
  await stripe.test.customers.del(id);
  expect(await stripe.test.customers.retrieve(id)).toMatchObject({ id, deleted: true });
  expect((await stripe.test.subscriptions.list({ customer: id, status: 'all' })).data).toEqual([]);
  await expect(stripe.live.customers.retrieve(id)).rejects.toMatchObject({ code: 'resource_missing' });
});

test('objects and events of live mode have livemode true', async () => {
  expect(await stripe.live.customers.create({})).toMatchObject({ livemode: true });
  expect(live.events().at(-1)).toMatchObject({ livemode: true, data: { object: { livemode: true } } });
  expect(await stripe.test.customers.create({})).toMatchObject({ livemode: false });
});
