import fc from 'fast-check';
import { makeOwner, passPhrase } from './people.ts';
import { type Sent, send } from './raw-request.ts';
import { expect, type Service, test } from './service.ts';

const endpoints = [
  '/api/login',
  '/api/logout',
  '/api/signup',
  '/api/signup/resend',
  '/api/session',
  '/api/subscription',
  '/api/billing/checkout',
  '/api/billing/portal',
  '/api/billing/cancel',
  '/api/billing/resume',
  '/webhooks/payment',
  '/api/trpc/accounts.signUp',
  '/api/trpc/signIn.withPassword',
  '/api/trpc/billing.checkout',
];

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\u0000', 'a\u0000b', '\ud800', '💥'.repeat(300)),
);
const field = fc.oneof(text, fc.jsonValue(), fc.constantFrom('person@company.example', 'silver', 1e308, -0, null));
const record = fc.record(
  { email: field, password: field, org_name: field, tier: field, __proto__: field, constructor: field },
  { requiredKeys: [] },
);
const body = fc.oneof(
  record.map((value) => JSON.stringify(value)),
  fc.json(),
  text,
  fc.constantFrom('{"email":', '[]', '""', 'null', '{"a":'.repeat(5000)),
);
const contentType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  '',
  'multipart/form-data',
);
const method = fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND');

async function expectNoFailure(service: Service, path: string, sent: Sent): Promise<void> {
  const { status, text: answer } = await send(service, path, sent);
  expect(
    status,
    `${sent.method} ${path} ${JSON.stringify(sent.body)?.slice(0, 200)}: ${answer.slice(0, 200)}`,
  ).toBeLessThan(500);
}

test('nothing that a request holds makes an endpoint fail', async ({ request, service }) => {
  test.setTimeout(180_000);
  const email = await makeOwner(service, request);
  await request.post('/api/login', { data: { email, password: passPhrase } });
  const { cookies } = await request.storageState();
  const session = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...endpoints),
      method,
      body,
      contentType,
      fc.boolean(),
      async (path, verb, content, type, signedIn) => {
        const headers = {
          ...(type && { 'content-type': type }),
          ...(signedIn && path !== '/api/logout' && { cookie: session }),
        };
        await expectNoFailure(service, path, {
          method: verb,
          headers,
          body: verb === 'GET' || verb === 'HEAD' ? '' : content,
        });
      },
    ),
    { numRuns: 400 },
  );
});

test('nothing that an address holds makes the callback, the link or a page fail', async ({ service }) => {
  const value = fc
    .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '%00', '%ff', 'x'.repeat(5000)))
    .map((each) => {
      try {
        return encodeURIComponent(each);
      } catch {
        return '%ED%A0%80';
      }
    });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/auth/idp/callback', '/verify', '/login', '/signup', '/billing', '/awaiting-approval', '/'),
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
