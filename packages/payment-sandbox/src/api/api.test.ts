import Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PaymentSandbox as Sandbox } from '../start-payment-sandbox.ts';
import { sdk, startTestSandbox } from '../testing.ts';

let sandbox: Sandbox;
let stripe: Stripe;

beforeAll(async () => {
  sandbox = await startTestSandbox();
  stripe = sdk(sandbox);
});
beforeEach(() => void sandbox.payment.resetSwitches());
afterAll(() => sandbox.close());

const silver = 'price_sandbox_silver_monthly';

test('an unknown parameter is refused, and the error names it, at any depth', async () => {
  await expectError(stripe.customers.create({ emial: 'a@b.test' } as never), {
    status: 400,
    code: 'parameter_unknown',
    param: 'emial',
    message: 'Received unknown parameter: emial',
  });
  await expectError(
    stripe.checkout.sessions.create({ mode: 'subscription', line_items: [{ prise: silver }] } as never),
    {
      code: 'parameter_unknown',
      param: 'line_items[0][prise]',
    },
  );
  await expectError(stripe.prices.list({ lookup_key: 'silver_monthly' } as never), { code: 'parameter_unknown' });
});

test('a parameter that the sandbox does not support is refused, not ignored', async () => {
  await expectError(stripe.customers.create({ shipping: { name: 'A', address: { city: 'B' } } }), {
    code: 'sandbox_unsupported',
    param: 'shipping',
  });
});

test('missing, empty and malformed parameters get different errors', async () => {
  await expectError(stripe.products.create({} as never), { code: 'parameter_missing', param: 'name' });
  await expectError(stripe.products.create({ name: '' }), { code: 'parameter_invalid_empty', param: 'name' });
  await expectError(stripe.customers.list({ limit: 'many' as never }), {
    code: 'parameter_invalid_integer',
    param: 'limit',
  });
  await expectError(stripe.customers.list({ limit: 101 }), { code: 'parameter_invalid_integer' });
  await expectError(stripe.products.create({ name: 'A', active: 'perhaps' as never }), {
    message: 'Invalid boolean: perhaps',
  });
});

test('a hash in place of a list, and a list in place of a hash, are refused with their value in the message', async () => {
  await expectError(stripe.subscriptions.update('sub_none', { items: { other: { price: silver } } as never }), {
    status: 400,
    param: 'items',
    message: `Invalid array: {"other":{"price":"${silver}"}}`,
  });
  await expectError(
    stripe.checkout.sessions.create({ mode: 'subscription', subscription_data: [{ a: 'b' }] } as never),
    {
      status: 400,
      param: 'subscription_data',
      message: 'Invalid object: [{"a":"b"}]',
    },
  );
});

test('a missing object is resource_missing: 404 for an id in the path, 400 for one in a parameter', async () => {
  await expectError(stripe.subscriptions.retrieve('sub_none'), {
    status: 404,
    code: 'resource_missing',
    param: 'id',
    message: "No such subscription: 'sub_none'",
  });
  const session = {
    mode: 'subscription' as const,
    line_items: [{ price: silver }],
    success_url: 'http://localhost/ok',
  };
  await expectError(stripe.checkout.sessions.create({ ...session, customer: 'cus_none' }), {
    status: 400,
    code: 'resource_missing',
    param: 'customer',
  });
  const gone = await stripe.customers.create({});
  await stripe.customers.del(gone.id);
  expect(await stripe.customers.retrieve(gone.id)).toEqual(expect.objectContaining({ id: gone.id, deleted: true }));
  await expectError(stripe.checkout.sessions.create({ ...session, customer: gone.id }), {
    code: 'resource_missing',
    param: 'customer',
  });
  await expectError(stripe.rawRequest('GET', '/v1/nothing') as Promise<unknown>, { status: 404 });
});

test('a wrong key and a missing key get 401', async () => {
  const { hostname, port } = new URL(sandbox.payment.apiUrl);
  const wrongKey = new Stripe('another_key', { host: hostname, port, protocol: 'http', maxNetworkRetries: 0 });
  await expectError(wrongKey.customers.list(), { status: 401 });
  expect((await fetch(`${sandbox.url}/v1/customers`)).status).toBe(401);
  const basic = Buffer.from('sk_test_sandbox:').toString('base64');
  expect((await fetch(`${sandbox.url}/v1/customers`, { headers: { authorization: `Basic ${basic}` } })).status).toBe(
    200,
  );
});

test('an idempotency key replays its first answer and refuses other parameters', async () => {
  const options = { idempotencyKey: 'customer:org_9' };
  const first = await stripe.customers.create({ metadata: { organisation: 'org_9' } }, options);
  const again = await stripe.customers.create({ metadata: { organisation: 'org_9' } }, options);
  expect(again.id).toBe(first.id);
  expect(again.lastResponse.headers['idempotent-replayed']).toBe('true');
  await expectError(stripe.customers.create({ metadata: { organisation: 'org_8' } }, options), {
    status: 400,
    type: 'StripeIdempotencyError',
  });
});

test('an idempotency key stores an answer of 500 too, but not an error about parameters', async () => {
  sandbox.payment.failNext(500, { only: 'POST /v1/customers' });
  const options = { idempotencyKey: 'customer:org_10' };
  await expectError(stripe.customers.create({}, options), { status: 500 });
  await expectError(stripe.customers.create({}, options), { status: 500 });
  expect((await stripe.customers.create({}, { idempotencyKey: 'customer:org_10:2' })).id).toMatch(/^cus_/);
  const other = { idempotencyKey: 'product' };
  await expectError(stripe.products.create({} as never, other), { code: 'parameter_missing' });
  expect((await stripe.products.create({ name: 'Good' }, other)).name).toBe('Good');
});

test('of two concurrent requests with one key, the second gets 409', async () => {
  // Long enough for the second one to arrive meanwhile, also on a busy machine.
  sandbox.payment.set({ api_delay_ms: 1500 });
  const options = { idempotencyKey: 'at-once' };
  const results = await Promise.allSettled([
    stripe.customers.create({}, options),
    stripe.customers.create({}, options),
  ]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = results.find((result) => result.status === 'rejected');
  expect(refused?.reason).toMatchObject({ statusCode: 409, code: 'idempotency_key_in_use' });
});

test('after a lost answer the SDK gets it by its idempotency key', async () => {
  sandbox.payment.failNext('close', { only: 'POST /v1/customers', afterEffect: true });
  const before = Object.keys(sandbox.payment.state().customers).length;
  const customer = await sdk(sandbox, { maxNetworkRetries: 1 }).customers.create({});
  expect(customer.lastResponse.headers['idempotent-replayed']).toBe('true');
  expect(Object.keys(sandbox.payment.state().customers)).toHaveLength(before + 1);
});

test('slow, aborted and unanswered requests end at the timeout of the SDK', async () => {
  sandbox.payment.set({ api_delay_ms: 300 });
  await expectError(stripe.customers.list({}, { timeout: 100 }), { type: 'StripeConnectionError' });
  sandbox.payment.resetSwitches();
  sandbox.payment.failNext('hang');
  await expectError(stripe.customers.list({}, { timeout: 100 }), { type: 'StripeConnectionError' });
  sandbox.payment.failNext(429);
  await expectError(stripe.customers.list(), { status: 429, type: 'StripeRateLimitError' });
  expect((await stripe.customers.list()).object).toBe('list');
});

test('a rate limit says in how many seconds to come back, if the switch says so', async () => {
  const limited = async () => {
    sandbox.payment.failNext(429);
    const error: Stripe.errors.StripeRateLimitError = await stripe.customers.list().then(
      () => Promise.reject(new Error('not limited')),
      (reason) => reason,
    );
    return [error.statusCode, error.code, error.headers?.['retry-after']];
  };
  expect(await limited()).toEqual([429, 'rate_limit', undefined]);
  sandbox.payment.set({ api_retry_after_seconds: 7 });
  expect(await limited()).toEqual([429, 'rate_limit', '7']);
});

test('lists are newest first, and the SDK can iterate over their pages', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) await stripe.customers.create({ name, email: 'page@example.test' });
  const names: string[] = [];
  for await (const customer of stripe.customers.list({ email: 'page@example.test', limit: 2 }))
    names.push(customer.name ?? '');
  expect(names).toEqual(['e', 'd', 'c', 'b', 'a']);
  const page = await stripe.customers.list({ email: 'page@example.test', limit: 2 });
  expect(page).toMatchObject({ has_more: true, url: '/v1/customers' });
  const newer = await stripe.customers.list({ email: 'page@example.test', ending_before: page.data[1]?.id as string });
  expect(newer.data.map(({ name }) => name)).toEqual(['e']);
});

test('expand works through lists and refuses members that are not references', async () => {
  const prices = await stripe.prices.list({ lookup_keys: ['gold_monthly'], expand: ['data.product'] });
  expect(prices.data[0]?.product).toMatchObject({ object: 'product', name: 'Gold' });
  await expectError(stripe.prices.list({ expand: ['data.colour'] }), {
    message: 'This property cannot be expanded (data.colour).',
  });
  await expectError(stripe.prices.retrieve(silver, { expand: ['a.b.c.d.e'] }), { status: 400 });
});

test('metadata is merged by key, and an empty string removes a key', async () => {
  const { id } = await stripe.customers.create({ metadata: { a: '1', b: '2' } });
  expect((await stripe.customers.update(id, { metadata: { b: '', c: '3' } })).metadata).toEqual({ a: '1', c: '3' });
  expect((await stripe.customers.update(id, { metadata: '' })).metadata).toEqual({});
});

test('the secret of a webhook endpoint is shown only at its creation', async () => {
  const made = await stripe.webhookEndpoints.create({
    url: 'http://localhost:1/hook',
    enabled_events: ['invoice.paid'],
  });
  expect(made.secret).toMatch(/^sandbox_webhook_secret_/);
  expect((await stripe.webhookEndpoints.retrieve(made.id)).secret).toBeUndefined();
  const listed = await stripe.webhookEndpoints.list();
  expect(listed.data.map(({ url }) => url)).toContain('http://localhost:3000/webhooks/payment');
  expect((await stripe.webhookEndpoints.update(made.id, { disabled: true })).status).toBe('disabled');
  expect((await stripe.webhookEndpoints.del(made.id)).deleted).toBe(true);
});

test('an unseeded provider has no prices and no portal configuration', async () => {
  const bare = await startTestSandbox({ seeded: false });
  const own = sdk(bare);
  expect((await own.prices.list()).data).toEqual([]);
  const customer = await own.customers.create({});
  await expectError(own.billingPortal.sessions.create({ customer: customer.id }), {
    message: /No configuration provided/,
  });
  await bare.close();
});

async function expectError(
  work: Promise<unknown>,
  wanted: { status?: number; type?: string; code?: string; param?: string; message?: string | RegExp },
) {
  const error = await work.then(
    () => null,
    (reason: Stripe.errors.StripeError) => reason,
  );
  expect(error, 'the request should have failed').not.toBeNull();
  const { status, message, ...rest } = wanted;
  if (message !== undefined) expect(error?.message).toMatch(message);
  expect(error).toMatchObject({ ...rest, ...(status !== undefined && { statusCode: status }) });
}
