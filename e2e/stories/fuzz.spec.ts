import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fieldsOf, isMutation, procedures } from '@gatehouse/api/testing/fields-of';
import fc from 'fast-check';
import { makeOwner, passPhrase } from '../support/people.ts';
import { type Sent, send } from '../support/raw-request.ts';
import { expect, type Service, test } from '../support/service.ts';

const routes = fileURLToPath(new URL('../../apps/web/src/routes', import.meta.url));

/** Every path that answers in JSON beside the router: a new one is found here by itself. */
const paths = fs
  .globSync('{api,webhooks}/**/+server.ts', { cwd: routes })
  .map((file) => `/${file.replace(/\/\+server\.ts$/, '')}`)
  .filter((path) => !path.includes('[...'))
  .map((path) => path.replace('[id]', 'unknown').replace(/\[(name|meter)\]/, 'projects'));

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\u0000', 'a\u0000b', '\ud800', '💥'.repeat(300)),
);
const field = fc.oneof(
  text,
  fc.jsonValue(),
  fc.uuid(),
  fc.array(fc.uuid(), { maxLength: 3 }),
  fc.constantFrom('person@company.example', 'silver', 1e308, -0, null, true),
);
const nested = fc
  .record({
    open: fc.constantFrom('{"email":', '{"password":', '{"id":[', '{"a":{"b":'),
    levels: fc.integer({ min: 1, max: 5000 }),
  })
  .map(({ open, levels }) => {
    const close = [...open.matchAll(/[{[]/g)].map(([bracket]) => (bracket === '{' ? '}' : ']')).reverse();
    return `${open.repeat(levels)}1${close.join('').repeat(levels)}`;
  });
const junk = fc.oneof(fc.json(), text, nested, fc.constantFrom('{"email":', '[]', '""', 'null', '{"a":'.repeat(3000)));

/** What is sent: mostly objects with the fields that are asked for, and anything at all. */
function bodyWith(fields: string[]): fc.Arbitrary<string> {
  const names = [...fields, '__proto__', 'constructor'];
  const whole = fc.record(Object.fromEntries(fields.map((name) => [name, field])));
  const partial = fc.record(Object.fromEntries(names.map((name) => [name, field])), { requiredKeys: [] });
  return fc.oneof(
    { weight: 3, arbitrary: whole.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: partial.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: junk },
  );
}

const hostile = ['', '\u0000', 'a\u0000b', '\ud800', 'x'.repeat(3000), 7, null, true, [], {}, ['\u0000'], [null]];

/** What gets past the first look, so that what stands beside it is looked at as well. */
const plausible: Record<string, unknown> = {
  email: 'person@company.example',
  password: passPhrase,
  current_password: passPhrase.toUpperCase(),
  tier: 'silver',
  meter: 'projects',
  amount: 1,
  used: 1,
  at: '2026-11-22T00:00:00Z',
  records: [{ organisation: 'unknown', meter: 'api_calls', amount: 1, idempotency_key: 'k' }],
  organisation_ids: [randomUUID()],
};

/** Each field with each hostile value in turn, beside others that will do. */
function eachField(fields: string[]): string[] {
  const others = Object.fromEntries(fields.map((name) => [name, plausible[name] ?? randomUUID()]));
  return fields.flatMap((name) => hostile.map((value) => JSON.stringify({ ...others, [name]: value })));
}

const contentType = fc.oneof(
  { weight: 4, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('application/json; charset=utf-16', 'text/plain', '', 'multipart/form-data'),
  },
);
const method = fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND');

/** Signing out would end what the rest is asked with. */
const endsSessions = new Set(['/api/logout', '/api/trpc/signIn.out']);
const restFields = ['email', 'password', 'org_name', 'tier', 'organisation_id'];
const usageFields = ['organisation', 'meter', 'amount', 'idempotency_key', 'records', 'used', 'at'];
const fieldsOfPath = (path: string) => (path.startsWith('/api/usage/') ? usageFields : restFields);

async function expectNoFailure(service: Service, path: string, sent: Sent): Promise<void> {
  const { status, text: answer } = await send(service, path, sent);
  expect(
    status,
    `${sent.method} ${path} ${JSON.stringify(sent.body)?.slice(0, 200)}: ${answer.slice(0, 200)}`,
  ).toBeLessThan(500);
}

/** The headers of a caller without a session, an administrator, an operator, and an API key. */
let people: Record<string, string>[] = [];
test.beforeAll(async ({ service, playwright }) => {
  test.setTimeout(60_000);
  people = [{}];
  for (const operator of [false, true]) {
    const request = await playwright.request.newContext({ baseURL: service.baseUrl });
    const email = await makeOwner(service, request, { operator });
    await request.post('/api/login', { data: { email, password: passPhrase } });
    const { cookies } = await request.storageState();
    people.push({ cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') });
    await request.dispose();
  }
  const { stdout } = await service.operator('api-key', 'create', '--name', 'Fuzz', '--scope', 'WRITE');
  people.push({ authorization: `Bearer ${stdout.trim()}` });
});
test.afterAll(async ({ service }) => {
  // Whoever was signed out by what they sent was nobody from then on, and the test worth little.
  for (const headers of people.filter(({ cookie }) => cookie !== undefined))
    expect((await send(service, '/api/session', { headers })).status).toBe(200);
});

async function asEach(path: string, ask: (headers: Record<string, string>) => Promise<void>): Promise<void> {
  const who = endsSessions.has(path) ? [{}] : people;
  await Promise.all(who.map(ask));
}

test('no content of a request makes a JSON endpoint fail, for any caller', async ({ service }) => {
  test.setTimeout(120_000);
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths) {
    await fc.assert(
      fc.asyncProperty(method, bodyWith(fieldsOfPath(path)), contentType, (verb, content, type) =>
        asEach(path, (cookie) =>
          expectNoFailure(service, path, {
            method: verb,
            headers: { ...cookie, ...(type && { 'content-type': type }) },
            body: verb === 'GET' || verb === 'HEAD' ? '' : content,
          }),
        ),
      ),
      {
        examples: eachField(fieldsOfPath(path)).map(
          (content) =>
            [path === '/api/usage/projects' ? 'PUT' : 'POST', content, 'application/json'] as [string, string, string],
        ),
        numRuns: 60,
      },
    );
  }
});

test('no content of a request makes a procedure fail, for any caller', async ({ service }) => {
  test.setTimeout(120_000);
  for (const name of procedures) {
    const path = `/api/trpc/${name}`;
    const examples = eachField(fieldsOf(name)).map((content) => [content] as [string]);
    await fc.assert(
      fc.asyncProperty(bodyWith(fieldsOf(name)), (content) =>
        asEach(path, (cookie) =>
          isMutation(name)
            ? expectNoFailure(service, path, {
                method: 'POST',
                headers: { ...cookie, 'content-type': 'application/json' },
                body: content,
              })
            : expectNoFailure(service, `${path}?input=${inAddress(content)}`, { method: 'GET', headers: cookie }),
        ),
      ),
      { examples, numRuns: examples.length + 10 },
    );
  }
});

test('nothing that names a procedure, or many of them, makes the router fail', async ({ service }) => {
  const name = fc.oneof(
    fc.constantFrom(...procedures, 'accounts', '__proto__', 'constructor', 'toString', '', '%ff', '%00'),
    fc.string().map(encoded),
  );
  const query = fc.array(
    fc.tuple(
      fc.constantFrom('batch', 'input', 'connectionParams', 'lastEventId'),
      fc
        .oneof(fc.constantFrom('1', '', '{', '[]', 'null', '{"0":{}}', '{"0":null}', '%ff'), fc.json(), nested)
        .map(inAddress),
    ),
    { maxLength: 3 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.array(name, { maxLength: 4 }),
        name.map((one) => Array.from({ length: 200 }, () => one.slice(0, 30))),
      ),
      query,
      fc.constantFrom('GET', 'POST', 'HEAD'),
      bodyWith(['0', '1', 'email']),
      (names, pairs, verb, content) => {
        const path = `/api/trpc/${names.join(',')}?${pairs.map((pair) => pair.join('=')).join('&')}`;
        const body = verb === 'POST' ? content : '';
        return expectNoFailure(service, path, { method: verb, headers: { 'content-type': 'application/json' }, body });
      },
    ),
    {
      examples: [
        [Array.from({ length: 400 }, () => 'accounts.resend'), [['batch', '1']], 'POST', '{}'],
        [
          ['accounts.resend'],
          [
            ['batch', '1'],
            ['input', '%7B%7D'],
          ],
          'GET',
          '',
        ],
      ],
      numRuns: 150,
    },
  );
});

/** No longer than what Node reads of an address: beyond, it refuses the request line and ends the connection. */
function inAddress(value: string): string {
  return encoded(value).slice(0, 3000);
}

function encoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return '%ED%A0%80';
  }
}

test('nothing that an address holds makes the callback, the link or a page fail', async ({ service }) => {
  const value = fc
    .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '%00', '%ff', 'x'.repeat(5000)))
    .map(encoded);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(
        '/auth/idp/callback',
        '/verify',
        '/invitation',
        '/members',
        '/login',
        '/signup',
        '/billing',
        '/awaiting-approval',
        '/',
      ),
      fc.array(fc.tuple(fc.constantFrom('state', 'code', 'error', 'token', 'checkout', 'return_to', '/x'), value), {
        maxLength: 4,
      }),
      fc.constantFrom('GET', 'HEAD'),
      (path, query, verb) =>
        expectNoFailure(service, `${path}?${query.map((pair) => pair.join('=')).join('&')}`, { method: verb }),
    ),
    { numRuns: 200 },
  );
});
