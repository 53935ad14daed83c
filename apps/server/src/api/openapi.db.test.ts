import { randomUUID } from 'node:crypto';
import { startSession } from '@gatehouse/api/auth/sessions/session';
import { newKeyInput } from '@gatehouse/api/members/keys/store-key';
import { createOperatorKey } from '@gatehouse/api/operators/keys';
import { endpoints } from '@gatehouse/api/router/endpoints';
import { type JsonSchema, openApiDocument } from '@gatehouse/api/router/openapi/document';
import { newAuthenticator } from '@gatehouse/api/testing/authenticator';
import { startBillingTest } from '@gatehouse/api/testing/billing';
import { newBrowser } from '@gatehouse/api/testing/browser';
import { makeOwner, newEmail, testClient, testPassword } from '@gatehouse/api/testing/factories';
import { currentCode } from '@gatehouse/api/testing/factors';
import { makeEvent, signed } from '@gatehouse/api/testing/payment/payment-events';
import { hold } from '@gatehouse/api/testing/usage';
import { parse, validate as validateByReadme } from '@readme/openapi-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerChecker, type ListedOperation, operationsOf } from './testing/check-answers.ts';
import { fromSchema } from './testing/from-schema.ts';
import { type Call, makeManaged, managementCalls } from './testing/management-calls.ts';
import { answer } from './testing/serve-endpoints.ts';

type World = Awaited<ReturnType<typeof makeWorld>>;

const origin = 'http://localhost:3999';
const document = openApiDocument({ version: '0.2.0', publicBaseUrl: origin, service: { name: 'Gatehouse' } });
const operations = operationsOf(document);
const problemOf = answerChecker(document);

/** A call of each operation that is answered with its success. An operation that is missing here fails a test. */
const calls: Record<string, (world: World) => Call> = {
  'accounts.signUp': () => ({ body: { email: newEmail(), password: testPassword, org_name: 'Company' } }),
  'accounts.resend': () => ({ body: { email: newEmail() } }),
  'signIn.withPassword': ({ owner }) => ({ body: { email: owner.email, password: testPassword } }),
  'signIn.again': ({ renewed }) => ({ headers: { cookie: renewed }, body: { password: testPassword } }),
  'signIn.secondStep': ({ factors: { stepCookie, code } }) => ({
    headers: { cookie: stepCookie },
    body: { recovery_code: code },
  }),
  'signIn.passkeyOptions': () => ({ body: {} }),
  'signIn.withPasskey': ({ factors: { answered } }) => ({
    headers: { cookie: answered.cookie },
    body: { passkey: answered.passkey },
  }),
  'factors.list': ({ factors: { cookie } }) => ({ headers: { cookie } }),
  'factors.totp': ({ factors: { cookie } }) => ({ headers: { cookie }, body: {} }),
  'factors.confirmTotp': ({ app, factors: { confirming } }) => ({
    headers: { cookie: confirming.cookie },
    body: { totp: currentCode({ app }, confirming.secret) },
  }),
  'factors.passkeyOptions': ({ factors: { cookie } }) => ({ headers: { cookie }, body: {} }),
  'factors.addPasskey': ({ factors: { created } }) => ({
    headers: { cookie: created.cookie },
    body: { name: 'Laptop', passkey: created.passkey },
  }),
  'factors.recoveryCodes': ({ factors: { cookie } }) => ({ headers: { cookie }, body: {} }),
  'factors.remove': ({ factors: { removing } }) => ({ headers: { cookie: removing }, body: { id: 'totp' } }),
  'signIn.out': () => ({ body: {} }),
  'sessions.verify': ({ cookie }) => ({ headers: { cookie } }),
  'subscription.read': ({ cookie }) => ({ headers: { cookie } }),
  'billing.checkout': ({ cookie }) => ({ headers: { cookie }, body: { tier: 'gold' } }),
  'billing.currency': ({ cookie }) => ({ headers: { cookie }, body: { currency: 'gbp' } }),
  'billing.portal': ({ cookie }) => ({ headers: { cookie }, body: {} }),
  'billing.cancel': ({ cookie }) => ({ headers: { cookie }, body: {} }),
  'billing.resume': ({ cookie }) => ({ headers: { cookie }, body: {} }),
  'entitlements.get': ({ key, organisation: id }) => ({ headers: key, path: { id } }),
  'entitlements.check': ({ key, organisation: id }) => ({ headers: key, path: { id, name: 'api_calls' } }),
  'usage.reserve': ({ key, organisation }) => ({ headers: key, body: { organisation, ...oneCall() } }),
  'usage.release': ({ key, organisation }) => ({ headers: key, body: { organisation, ...oneCall('projects') } }),
  'usage.commit': ({ key, hold }) => ({ headers: key, body: { hold } }),
  'usage.report': ({ key, organisation }) => ({
    headers: key,
    body: { records: [{ organisation, amount: 1, ...oneCall() }] },
  }),
  'usage.set': ({ key, organisation }) => ({
    headers: key,
    path: { meter: 'projects' },
    body: { organisation, used: 3 },
  }),
  'usage.read': ({ key, organisation }) => ({ headers: key, path: { meter: 'api_calls' }, query: { organisation } }),
  'organisations.list': ({ key }) => ({ headers: key }),
  'members.list': ({ key, organisation: id }) => ({ headers: key, path: { id } }),
  'changes.since': ({ key }) => ({ headers: key, query: { after: '0' } }),
  'tokens.issue': ({ key }) => ({ headers: key, body: { audience: 'https://app.example' } }),
  'tokens.keySet': () => ({}),
  'webhooks.payment': ({ app }) => signedEvent(app),
  'service.openapi': () => ({}),
  ...managementCalls,
};

const oneCall = (meter = 'api_calls') => ({ meter, idempotency_key: randomUUID() });

async function makeWorld() {
  const billing = await startBillingTest({ environment: { TOKEN_TTL_SECONDS: '300' } });
  const owner = await makeOwner(billing);
  const { userId, organisationId } = owner;
  const session = await startSession(billing.app, { userId, organisationId, client: testClient });
  // The session that one request gives a new token, so that the others keep theirs.
  const renewed = await startSession(billing.app, { userId, organisationId, client: testClient });
  const { url } = await owner.api.billing.checkout({ tier: 'silver' });
  billing.sandbox.payment.payCheckout(url);
  await billing.settled();
  const input = newKeyInput.parse({ name: 'Test', scope: 'WRITE' });
  const { key } = await createOperatorKey(billing.app, { organisationId: null }, input, {
    actorId: userId,
    client: testClient,
  });
  const headers = { authorization: `Bearer ${key}` };
  const cookies = { cookie: `session=${session}`, renewed: `session=${renewed}` };
  const factors = await makeFactors(billing);
  const { id: held } = await hold(billing, { organisationId, expires: 3600 });
  return {
    billing,
    app: billing.app,
    owner,
    hold: held,
    ...cookies,
    key: headers,
    organisation: organisationId,
    factors,
    managed: await makeManaged(billing),
  };
}

/** Users with second factors, each for a call that changes them. */
async function makeFactors(billing: Awaited<ReturnType<typeof startBillingTest>>) {
  const cookieOf = (browser: ReturnType<typeof newBrowser>, ...names: string[]) =>
    names.map((name) => `${name}=${browser.cookie(name)}`).join('; ');
  async function signedIn() {
    const { email } = await makeOwner(billing);
    const browser = newBrowser(billing);
    await browser.post('/api/login', { email, password: testPassword });
    return { email, browser };
  }

  const holder = await signedIn();
  const authenticator = newAuthenticator(origin);
  const { body: creation } = await holder.browser.post('/api/factors/passkey/options');
  const passkey = authenticator.create(creation);
  const { body: added } = await holder.browser.post('/api/factors/passkey', { name: 'Laptop', passkey });
  const stepping = newBrowser(billing);
  await stepping.post('/api/login', { email: holder.email, password: testPassword });
  const answering = newBrowser(billing);
  const { body: request } = await answering.post('/api/login/passkey/options');
  const [confirming, creating, removing] = [await signedIn(), await signedIn(), await signedIn()];
  const { secret } = (await confirming.browser.post('/api/factors/totp')).body;
  const { body: options } = await creating.browser.post('/api/factors/passkey/options');
  const { secret: removed } = (await removing.browser.post('/api/factors/totp')).body;
  await removing.browser.post('/api/factors/totp/confirm', { totp: currentCode(billing, removed) });
  return {
    cookie: cookieOf(holder.browser, 'session'),
    stepCookie: cookieOf(stepping, 'step'),
    code: added.recovery_codes[0] as string,
    answered: { cookie: cookieOf(answering, 'challenge'), passkey: authenticator.get(request) },
    confirming: { cookie: cookieOf(confirming.browser, 'session'), secret: secret as string },
    created: {
      cookie: cookieOf(creating.browser, 'session', 'challenge'),
      passkey: newAuthenticator(origin).create(options),
    },
    removing: cookieOf(removing.browser, 'session'),
  };
}

function signedEvent(app: World['app']): Call {
  const { payload, signature } = signed(app, makeEvent(app, 'product.updated', { id: 'prod_1' }));
  return { body: JSON.parse(payload), headers: { 'payment-signature': signature } };
}

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.billing.close());

async function call(operation: ListedOperation, { path = {}, query = {}, body, headers = {} }: Call) {
  const place = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name] ?? 'none'));
  const url = new URL(place, origin);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const request = new Request(url, {
    method: operation.method.toUpperCase(),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const response = await answer(world.app, request);
  return { status: response.status, body: (await response.json()) as unknown };
}

it('is valid by two validators', async () => {
  const copy = () => JSON.parse(JSON.stringify(document));
  expect(await new Validator().validate(copy())).toMatchObject({ valid: true });
  expect(await validateByReadme(await parse(copy()))).toMatchObject({ valid: true });
});

it('holds every endpoint that answers in JSON, and no other', () => {
  const listed = operations.map(({ method, path }) => `${method} ${path}`);
  expect(listed.sort()).toEqual(endpoints.map(({ method, path }) => `${method} ${path}`).sort());
  expect(Object.keys(calls).sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
});

it('names every schema of a body and an answer, has one of errors, and says that /api/trpc is internal', () => {
  const schemas = operations.flatMap(({ requestBody, responses }) => [
    ...(requestBody ? [requestBody.content['application/json'].schema] : []),
    ...Object.values(responses).map(({ content }) => content['application/json'].schema),
  ]);
  for (const schema of schemas)
    expect(schema).toEqual({ $ref: expect.stringMatching(/^#\/components\/schemas\/\w+$/) });
  const errors = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) =>
      Number(status) >= 400 ? [content['application/json'].schema.$ref] : [],
    ),
  );
  expect(new Set(errors)).toEqual(new Set(['#/components/schemas/Error']));
  expect(document.info.description).toMatch(/internal.*\/api\/trpc/);
});

describe.each(operations.map((operation) => [operation.operationId, operation] as const))('%s', (id, operation) => {
  const success =
    Object.keys(operation.responses)
      .map(Number)
      .filter((status) => status < 400)[0] ?? 0;

  it('has an example that its schemas accept', () => {
    const { requestBody, responses, parameters = [] } = operation;
    const answered = responses[success]?.content['application/json'];
    expect(problemOf(operation, success, answered?.example)).toBe(null);
    if (requestBody) {
      const { schema, example } = requestBody.content['application/json'];
      expect(problemOf.of(schema, example)).toBe(null);
    }
    for (const { in: place, example, name } of parameters)
      if (place === 'path') expect([name, typeof example]).toEqual([name, 'string']);
  });

  it('answers a valid request as its schema says', async () => {
    const { status, body } = await call(operation, calls[id]?.(world) ?? {});
    expect([status, problemOf(operation, status, body)]).toEqual([success, null]);
  });

  it('answers invalid requests as its schemas say', async () => {
    const { headers: _, ...anonymous } = calls[id]?.(world) ?? {};
    const wrong: Call[] = [
      { ...anonymous, headers: { 'sec-fetch-site': 'cross-site' } },
      anonymous,
      { ...anonymous, headers: { cookie: 'session=nobody' } },
      ...(operation.requestBody
        ? [
            { ...anonymous, body: [] },
            { ...anonymous, body: { x: 'x'.repeat(1_100_000) } },
          ]
        : []),
    ];
    for (const each of wrong) {
      const { status, body } = await call(operation, each);
      expect(problemOf(operation, status, body)).toBe(null);
    }
  });

  it('answers any request as one of its schemas says, and never with 500', async () => {
    const right = calls[id]?.(world) ?? {};
    const parameters = (place: string) => {
      const own = operation.parameters?.filter(({ in: where }) => where === place) ?? [];
      // A request that waits would hold up the test.
      const valuesOf = (name: string, schema: JsonSchema) =>
        name === 'wait' ? fc.constantFrom('0', '-1', 'x') : fromSchema(schema).map(asText);
      return fc.record(Object.fromEntries(own.map(({ name, schema }) => [name, valuesOf(name, schema)])), {
        requiredKeys: place === 'path' ? own.map(({ name }) => name) : [],
      });
    };
    const schema = resolved(operation.requestBody?.content['application/json'].schema);
    const body: fc.Arbitrary<unknown> = schema === undefined ? fc.constant(undefined) : fromSchema(schema);
    const headers = right.headers ?? (id === 'signIn.out' ? {} : { cookie: world.cookie });
    await fc.assert(
      fc.asyncProperty(parameters('path'), parameters('query'), body, async (path, query, sent) => {
        const given = right.path === undefined ? path : mixed(path, right.path);
        const named = namesOrganisation(sent) ? { ...sent, organisation: world.organisation } : sent;
        const answered = await call(operation, { path: given, query, body: named, headers });
        expect(answered.status).not.toBe(500);
        expect(problemOf(operation, answered.status, answered.body)).toBe(null);
      }),
      { numRuns: 40 },
    );
  });
});

function resolved(schema: JsonSchema | undefined): JsonSchema | undefined {
  const name = String(schema?.$ref ?? '').replace('#/components/schemas/', '');
  return document.components.schemas[name] ?? schema;
}

/** Whether a body names an organisation: most texts name none, and the fields behind it would not be reached. */
function namesOrganisation(sent: unknown): sent is { organisation: string } {
  return typeof sent === 'object' && sent !== null && 'organisation' in sent && typeof sent.organisation === 'string';
}

/** A path parameter has at least one character, and no dot that a URL would resolve. */
function asText(value: unknown): string {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'x')).toWellFormed();
  return /^\.*$/.test(text) ? 'x' : text;
}

/** Every second path parameter as in a right request, so that the code behind the check of the parameter runs. */
function mixed(path: Record<string, unknown>, right: Record<string, string>): Record<string, string> {
  const names = Object.keys(right).filter((name) => String(path[name]).length % 2 === 0);
  return { ...path, ...Object.fromEntries(names.map((name) => [name, right[name]])) } as Record<string, string>;
}
