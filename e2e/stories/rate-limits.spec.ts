import { chooseAtProvider } from '../support/at-provider.ts';
import { linkFor, newEmail, passPhrase } from '../support/people.ts';
import { type Answer, type RawRequest, send } from '../support/raw-request.ts';
import { expect, type Service, startService, test } from '../support/service.ts';

const product = 'https://product.example';

let limited: Service;
test.beforeAll(async () => {
  limited = await startService({
    environment: { RATE_LIMITS: 'on', TRUSTED_PROXIES: '1', RETURN_ORIGINS: product },
  });
});
test.afterAll(() => limited.stop());

let clients = 0;

/** Returns a client that no limit has counted yet: its address is in X-Forwarded-For. */
function newClient() {
  clients += 1;
  const from = { 'x-forwarded-for': `192.0.2.${clients}` };
  return (path: string, { headers = {}, ...sent }: RawRequest = {}) =>
    send(limited, path, { ...sent, headers: { ...from, ...headers } });
}

function expectToWait({ headers }: Answer, minutes: number): void {
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(minutes * 60);
}

const asJson = { 'content-type': 'application/json' };
const asForm = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };

test('/verify answers 60 invalid links of a client, then a page that says to wait', async () => {
  const ask = newClient();
  for (let asked = 0; asked < 60; asked++) expect((await ask('/verify?token=x')).status).toBe(400);

  const refused = await ask('/verify?token=x');
  expect(refused.status).toBe(429);
  expect(refused.text).toMatch(/<main[^>]*data-ok="false"/);
  expect(refused.text).not.toContain('data-ok="true"');
  expect(refused.headers['referrer-policy']).toBe('no-referrer');
  expect(refused.headers['cache-control']).toContain('no-store');
  expectToWait(refused, 10);
  expect((await newClient()('/verify?token=x')).status).toBe(400);
});

test('the callback refuses every request of a client after 60 failures', async () => {
  const ask = newClient();
  const start = await ask('/auth/idp/start');
  const back = await chooseAtProvider(start.headers.location ?? '', limited.baseUrl, newEmail());
  const headers = { cookie: start.headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
  for (let asked = 0; asked < 60; asked++) await ask('/auth/idp/callback?state=x&code=y');

  const { status, headers: answered, text } = await ask(back.pathname + back.search, { headers });
  expect([status, answered.location, text]).toEqual([302, '/login?error=idp', '']);
  // The refusal did not consume the attempt: from another address it still signs in.
  expect((await newClient()(back.pathname + back.search, { headers })).headers.location).toBe('/');
});

test('/auth/idp/start begins 60 attempts of a client, then redirects to the sign-in page', async () => {
  const ask = newClient();
  for (let asked = 0; asked < 60; asked++) {
    expect((await ask('/auth/idp/start')).headers.location).toContain('/idp/auth?');
  }
  const { status, headers } = await ask('/auth/idp/start');
  expect([status, headers.location, headers['set-cookie']]).toEqual([302, '/login?error=idp', undefined]);
});

const image = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image', 'sec-fetch-site': 'cross-site' };
const frame = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' };
const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' };

test('images, frames and prefetches of another site count against no limit, and consume no link and no attempt', async () => {
  const ask = newClient();
  const start = await ask('/auth/idp/start', { headers: navigation });
  const back = await chooseAtProvider(start.headers.location ?? '', limited.baseUrl, newEmail());
  const cookie = start.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const email = newEmail();
  await ask('/api/signup', {
    method: 'POST',
    headers: { ...asJson },
    body: JSON.stringify({ email, password: passPhrase }),
  });
  const { pathname, search } = new URL(await linkFor(limited, email));

  for (let asked = 0; asked < 61; asked++) {
    for (const kind of [image, frame]) {
      for (const path of ['/auth/idp/start', back.pathname + back.search]) {
        const { status, headers } = await ask(path, { headers: { ...kind, cookie } });
        expect([status, headers.location, headers['set-cookie']]).toEqual([302, '/login?error=idp', undefined]);
      }
      const refused = await ask(pathname + search, { headers: kind });
      expect(refused.status).toBe(403);
      expect(refused.text).toMatch(/<main[^>]*data-ok="false"/);
      expect(refused.text).not.toContain('data-ok="true"');
      expect(refused.text).not.toContain('Wait a little');
    }
    const prefetch = { ...navigation, 'sec-purpose': 'prefetch;prerender' };
    expect((await ask(pathname + search, { headers: prefetch })).status).toBe(503);
    expect((await ask('/auth/idp/start', { headers: prefetch })).headers['set-cookie']).toBeUndefined();
  }

  const opened = await ask(pathname + search, { headers: navigation });
  expect(opened.text).toMatch(/<main[^>]*data-ok="true"/);
  expect((await ask('/auth/idp/start', { headers: navigation })).headers.location).toContain('/idp/auth?');
  const callback = await ask(back.pathname + back.search, { headers: { ...navigation, cookie } });
  expect(callback.headers.location).toBe('/');
});

for (const [path, fields, most, minutes, before] of [
  ['/login', { email: newEmail(), password: 'not the pass phrase' }, 10, 15, 401],
  ['/signup?/create', { email: 'no address', password: '' }, 20, 60, 400],
  ['/signup?/resend', { email: 'no address' }, 20, 60, 400],
] as const) {
  test(`the form at ${path} answers its page with 429 after ${most} requests`, async () => {
    const ask = newClient();
    const body = new URLSearchParams(fields).toString();
    const submit = () => ask(path, { method: 'POST', headers: { ...asForm }, body });
    for (let asked = 0; asked < most; asked++) expect((await submit()).status).toBe(before);

    const refused = await submit();
    expect(refused.status).toBe(429);
    expect(refused.text).toContain('<form');
    expectToWait(refused, minutes);
    const said = /Too many attempts\. Try again in (?:a minute|(\d+) minutes)\./.exec(refused.text);
    expect(Number(said?.[1] ?? 1)).toBe(Math.ceil(Number(refused.headers['retry-after']) / 60));
  });
}

for (const [path, fields, most, minutes, before] of [
  ['/api/login', { email: newEmail(), password: 'not the pass phrase' }, 10, 15, 401],
  ['/api/signup', {}, 20, 60, 400],
  ['/api/signup/resend', {}, 20, 60, 400],
] as const) {
  test(`${path} answers 429 with Retry-After after ${most} requests`, async () => {
    const ask = newClient();
    const submit = () => ask(path, { method: 'POST', headers: { ...asJson }, body: JSON.stringify(fields) });
    for (let asked = 0; asked < most; asked++) expect((await submit()).status).toBe(before);

    const refused = await submit();
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'TOO_MANY', error: expect.stringMatching(/^Too many/) });
    expectToWait(refused, minutes);
  });
}

test('a client over its limit gets 429 with Retry-After from a procedure', async () => {
  const client = newClient();
  const ask = () => client('/api/trpc/accounts.resend', { method: 'POST', headers: { ...asJson }, body: '{}' });
  for (let asked = 0; asked < 20; asked++) expect((await ask()).status).toBe(400);

  const refused = await ask();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
});

test('a client over its limit still sees the sign-in page, without a return URL', async () => {
  const client = newClient();
  const openSignIn = () => client(`/login?return_to=${encodeURIComponent(product)}`);
  expect((await openSignIn()).headers['set-cookie']?.[0]).toMatch(/^return=/);
  for (let asked = 1; asked < 300; asked++) await openSignIn();

  const { status, headers } = await openSignIn();
  expect([status, headers['set-cookie']]).toEqual([200, undefined]);
});
