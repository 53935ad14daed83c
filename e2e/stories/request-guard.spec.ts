import { linkFor, makeOwner, newEmail, passPhrase } from '../support/people.ts';
import { send } from '../support/raw-request.ts';
import { expect, test } from '../support/service.ts';

const json = { 'content-type': 'application/json' };
const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

for (const [what, path, sent, status, code] of [
  ['a method that the endpoint does not have', '/api/signup', { method: 'GET' }, 405, 'METHOD_NOT_ALLOWED'],
  [
    'a method that the endpoint does not have, from another site,',
    '/api/subscription',
    { method: 'POST', headers: foreign },
    405,
    'METHOD_NOT_ALLOWED',
  ],
  [
    'another site with too large a body',
    '/api/login',
    { method: 'POST', headers: foreign, body: 'x'.repeat(70_000) },
    413,
    'TOO_LARGE',
  ],
  [
    'another site',
    '/api/login',
    { method: 'POST', headers: { ...foreign, ...json }, body: '{}' },
    403,
    'FOREIGN_ORIGIN',
  ],
  ['another site without a body', '/api/billing/portal', { method: 'POST', headers: foreign }, 403, 'FOREIGN_ORIGIN'],
  [
    'an unreadable body without a session',
    '/api/billing/checkout',
    { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' },
    401,
    'UNAUTHENTICATED',
  ],
  [
    'JSON sent as text',
    '/api/login',
    { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' },
    415,
    'NOT_JSON',
  ],
  [
    'a form',
    '/api/login',
    { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'email=a' },
    415,
    'NOT_JSON',
  ],
  [
    'a form at sign-out',
    '/api/logout',
    { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' },
    415,
    'NOT_JSON',
  ],
  ['malformed JSON', '/api/login', { method: 'POST', headers: json, body: '{"email":' }, 400, 'VALIDATION'],
  ['a list', '/api/signup', { method: 'POST', headers: json, body: '[]' }, 400, 'VALIDATION'],
  ['a missing path', '/api/nothing', {}, 404, 'NOT_FOUND'],
  ['a missing path by another method', '/api/nothing', { method: 'DELETE' }, 404, 'NOT_FOUND'],
] as const) {
  test(`${what} at ${path} is refused as ${code}`, async ({ service }) => {
    const answer = await send(service, path, sent);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ error: expect.any(String), code });
    expect(answer.headers['cache-control']).toContain('no-store');
  });
}

test('invalid UTF-8 in JSON is refused, and not read as something else', async ({ service }) => {
  const email = newEmail();
  const typed = JSON.stringify({ email, password: passPhrase, org_name: '@' });
  const body = Buffer.from(typed);
  // The name becomes a byte that is invalid in UTF-8.
  body[body.lastIndexOf('@')] = 0xff;
  const answer = await send(service, '/api/signup', { method: 'POST', headers: json, body });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({ error: 'The body is not valid JSON.', code: 'VALIDATION' });
  // The same body with a valid character is a sign-up.
  expect((await send(service, '/api/signup', { method: 'POST', headers: json, body: typed })).status).toBe(200);
});

test('a 405 lists the allowed methods', async ({ service }) => {
  expect((await send(service, '/api/signup')).headers.allow).toBe('POST');
});

test('a chunked body beyond the limit gets 413', async ({ service }) => {
  const answer = await send(service, '/api/login', {
    method: 'POST',
    headers: { ...json, 'transfer-encoding': 'chunked' },
    body: JSON.stringify({ email: 'x'.repeat(70_000) }),
  });
  expect(answer.status).toBe(413);
});

test('a POST without a body is read as an empty object', async ({ service }) => {
  const answer = await send(service, '/api/signup', { method: 'POST' });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text).fields).toEqual({ email: expect.any(String), password: expect.any(String) });
});

test('Host and X-Forwarded-* change no link, redirect or cookie', async ({ service }) => {
  const poison = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
  const start = await send(service, '/auth/idp/start', { headers: poison });
  expect(start.status).toBe(302);
  expect(new URL(start.headers.location ?? '').searchParams.get('redirect_uri')).toBe(
    `${service.baseUrl}/auth/idp/callback`,
  );
  expect(start.headers['set-cookie']?.[0]).toMatch(/^attempt=[\w-]+; .*HttpOnly/);

  const email = newEmail();
  const body = JSON.stringify({ email, password: passPhrase });
  await send(service, '/api/signup', { method: 'POST', headers: { ...poison, ...json }, body });
  await expect
    .poll(async () => JSON.stringify(await (await fetch(`${service.sandboxUrl}/mailbox/messages?to=${email}`)).json()))
    .toContain(`${service.baseUrl}/verify?token=`);
});

test('HEAD has no side effects: it starts no session and consumes no link', async ({ service }) => {
  expect((await send(service, '/verify?token=x', { method: 'HEAD' })).status).toBe(200);
  expect((await send(service, '/auth/idp/start', { method: 'HEAD' })).headers['set-cookie']).toBeUndefined();
});

test('a prefetch of a link gets 503, and its token is not read', async ({ service }) => {
  for (const [name, value] of [
    ['sec-purpose', 'prefetch;prerender'],
    ['purpose', 'prefetch'],
    ['x-moz', 'prefetch'],
  ] as const) {
    const answer = await send(service, '/verify?token=x', { headers: { [name]: value } });
    expect(answer.status).toBe(503);
    expect(answer.headers['cache-control']).toContain('no-store');
  }
});

test('pages have a Content-Security-Policy without foreign scripts, frames or form targets', async ({ service }) => {
  const signIn = (await send(service, '/login')).headers['content-security-policy'];
  expect(signIn).toMatch(/script-src 'self'(;|$)/);
  const { headers } = await send(service, '/awaiting-approval');
  const policy = headers['content-security-policy'] ?? '';
  expect(policy).toMatch(/script-src [^;]*'nonce-/);
  expect(policy).not.toMatch(/script-src [^;]*unsafe/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain(`form-action 'self' ${service.sandboxUrl}`);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['cross-origin-opener-policy']).toBe('same-origin');
  expect(headers['referrer-policy']).toBeTruthy();
});

for (const path of ['/', '/billing', '/account', '/members', '/operator', '/onboarding']) {
  test(`${path} redirects requests without a session to /login`, async ({ service }) => {
    const { status, headers } = await send(service, path);
    expect([status, headers.location]).toEqual([302, '/login']);
  });
}

test('a form from another site gets an error page with every security header', async ({ service }) => {
  const headers = { ...foreign, 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
  const answer = await send(service, '/login', { method: 'POST', headers, body: 'email=a&password=b' });
  expect(answer.status).toBe(403);
  expect(answer.text).toContain('This request comes from another site.');
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  expect(answer.headers['x-content-type-options']).toBe('nosniff');
  expect(answer.headers['x-request-id']).toBeTruthy();
});

test('only a GET of its page consumes a verification link', async ({ service, request }) => {
  const email = newEmail();
  await request.post('/api/signup', { data: { email, password: passPhrase } });
  const link = new URL(await linkFor(service, email));
  const data = `/verify/__data.json${link.search}`;

  for (const method of ['OPTIONS', 'PUT', 'DELETE', 'PATCH', 'POST', 'PROPFIND']) {
    const answer = await send(service, data, { method });
    expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
  }
  for (const method of ['GET', 'HEAD']) expect((await send(service, data, { method })).status).toBe(200);
  for (const method of ['HEAD', 'OPTIONS', 'PUT', 'DELETE'])
    await send(service, link.pathname + link.search, { method });

  const opened = await send(service, link.pathname + link.search);
  expect(opened.status).toBe(200);
  expect(opened.text).toContain('data-ok="true"');
});

const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
const chunked = { 'transfer-encoding': 'chunked' };

for (const [what, headers, body, status] of [
  ['a chunked form beyond the limit', { ...form, ...chunked }, `email=${'x'.repeat(70_000)}`, 413],
  ['a chunked form of more than a megabyte', { ...form, ...chunked }, `email=${'x'.repeat(1_200_000)}`, 413],
  ['a chunked form of another site beyond the limit', { ...form, ...chunked, ...foreign }, 'x'.repeat(70_000), 413],
  ['a chunked form of another site', { ...form, ...chunked, ...foreign }, 'email=a', 403],
  ['multipart without a boundary', { ...form, 'content-type': 'multipart/form-data' }, 'email=a', 400],
  ['plain text', { ...form, 'content-type': 'text/plain' }, 'email=a', 415],
  ['JSON', { ...form, ...json }, '{}', 415],
  ['a form', form, 'email=a&password=b', 401],
] as const) {
  test(`${what} at /login answers ${status}`, async ({ service }) => {
    expect((await send(service, '/login', { method: 'POST', headers, body })).status).toBe(status);
  });
}

for (const accept of ['*/*;q=0.8', 'text/plain, */*', 'application/*']) {
  test(`a form that accepts ${accept} is answered as a browser’s: the page of an error, the 303 of a success`, async ({
    request,
    service,
  }) => {
    const email = await makeOwner(service, request);
    const post = (password: string) =>
      send(service, '/login', {
        method: 'POST',
        headers: { ...form, accept },
        body: new URLSearchParams({ email, password }).toString(),
      });
    const refused = await post('a wrong pass phrase');
    expect([refused.status, refused.headers['content-type']]).toEqual([401, expect.stringMatching(/^text\/html/)]);
    const done = await post(passPhrase);
    expect([done.status, done.headers.location]).toEqual([303, '/']);
  });
}

for (const [path, status] of [
  ['/api/login/', 405],
  ['/api/session/', 401],
  ['/api/session//', 401],
  ['/api/session/.', 401],
  ['/login/', 200],
  ['/login/?return_to=https%3A%2F%2Fevil.example', 200],
] as const) {
  test(`${path} is answered as without its trailing slash, with every security header`, async ({ service }) => {
    const answer = await send(service, path);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-security-policy']).toBeTruthy();
    expect(answer.headers['referrer-policy']).toBeTruthy();
    expect(answer.headers['cache-control']).toContain('no-store');
    expect(answer.headers['x-request-id']).toBeTruthy();
  });
}

test('a page with a trailing slash loads its style and scripts', async ({ service }) => {
  const { text } = await send(service, '/login/');
  const assets = [...text.matchAll(/(?:href|src)="([^"]*_app\/[^"]+)"/g)].map(([, asset]) => asset ?? '');
  expect(assets.length).toBeGreaterThan(0);
  for (const asset of assets) {
    const { pathname } = new URL(asset, `${service.baseUrl}/login/`);
    const { status, headers } = await send(service, pathname);
    expect([status, headers['content-security-policy']]).toEqual([200, "default-src 'none'; frame-ancestors 'none'"]);
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
  }
});
