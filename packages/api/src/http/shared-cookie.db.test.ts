import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSession, shareSession, startSession } from '../auth/sessions/session.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOwner, testClient } from '../testing/factories.ts';
import { makeKey } from '../testing/keys.ts';
import { cookieJar } from './cookies.ts';
import { keepSharedCookie, newRequestState, openRequest } from './open-request.ts';
import type { RequestState } from './request.ts';

const app = 'https://app.company.example';
const id = 'https://id.company.example';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({
    environment: {
      PUBLIC_BASE_URL: id,
      COOKIE_DOMAIN: 'company.example',
      RETURN_ORIGINS: app,
      TOKEN_TTL_SECONDS: '3600',
      RATE_LIMITS: 'on',
    },
  });
});
afterAll(() => test.close());

type Sent = { cookie?: string; headers?: Record<string, string> };

/** Opens a request as the service does, up to the call of its endpoint. */
async function open(method: string, pathname: string, { cookie, headers = {} }: Sent = {}) {
  const state = newRequestState(test.app);
  const cookies = cookieJar(cookie);
  const source = {
    method,
    pathname,
    headers: new Headers(headers),
    cookies,
    client: testClient,
    signal: new AbortController().signal,
    language: () => 'en' as const,
    readBytes: async () => Buffer.from('{}'),
  };
  await openRequest(state, source, null);
  return { ...state, cookies };
}

async function signIn() {
  const owner = await makeOwner(test);
  const token = await startSession(test.app, { ...owner, client: testClient });
  const shared = `__Secure-gatehouse=${await shareSession(test.app, token)}`;
  return { ...owner, token, shared };
}

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

it('asks for the session, the entitlements of its own organisation and a token, and for nothing else', async () => {
  const { shared, organisationId, userId } = await signIn();
  const principal = async (method: string, path: string) => (await open(method, path, { cookie: shared })).principal;
  const entitlements = `/api/organisations/${organisationId}/entitlements`;
  for (const [method, path] of [
    ['GET', '/api/session'],
    ['HEAD', '/api/session'],
    ['GET', '/api/trpc/sessions.verify'],
    ['GET', entitlements],
    ['GET', `${entitlements}/members`],
    ['POST', '/api/token'],
    ['POST', '/api/logout'],
  ] as const)
    expect(await principal(method, path), `${method} ${path}`).toMatchObject({ user: { id: userId } });

  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/account'],
    ['GET', '/logout'],
    ['POST', '/logout'],
    ['GET', '/api/subscription'],
    ['GET', '/api/changes'],
    ['GET', `/api/organisations/${organisationId}/members`],
    ['GET', `${entitlements}/members/more`],
    ['POST', entitlements],
    ['POST', '/api/billing/cancel'],
    ['POST', '/api/usage/reserve'],
    ['GET', '/api/trpc/subscription.read'],
    ['POST', '/api/trpc/accounts.changeName'],
    ['GET', '/api/trpc/entitlements.get'],
  ] as const)
    expect(await principal(method, path), `${method} ${path}`).toBeNull();

  const { api } = await open('GET', entitlements, { cookie: shared });
  expect(await api.entitlements.get({ organisation: organisationId })).toMatchObject({
    organisation: { id: organisationId },
  });
  const other = (await makeOwner(test)).organisationId;
  await expect(api.entitlements.get({ organisation: other })).rejects.toMatchObject({ cause: { code: 'NOT_FOUND' } });
});

it('gets a token of the session for the product or the issuer, for 300 seconds, 20 times a minute', async () => {
  const { shared, token, userId, organisationId } = await signIn();
  const { api } = await open('POST', '/api/token', { cookie: shared });
  const claims = claimsOf((await api.tokens.issue({ audience: app })).token);
  expect(claims).toMatchObject({ sub: userId, kind: 'user', organisation: organisationId, aud: app });
  expect(claims.exp - claims.iat).toBe(300);
  expect(claimsOf((await api.tokens.issue({})).token)).toMatchObject({ aud: id });
  for (const audience of ['https://other.example', `${app}/`, `${app}:8443`, 'orders'])
    await expect(api.tokens.issue({ audience })).rejects.toMatchObject({
      cause: { code: 'VALIDATION', fields: { audience: expect.any(String) } },
    });

  for (let n = 2; n < 20; n++) await api.tokens.issue({ audience: app });
  await expect(api.tokens.issue({ audience: app })).rejects.toMatchObject({ cause: { code: 'TOO_MANY' } });
  // The session's own cookie, and a key, have neither limit.
  const own = await open('POST', '/api/token', { cookie: `__Host-session=${token}` });
  const long = claimsOf((await own.api.tokens.issue({ audience: 'orders' })).token);
  expect(long.exp - long.iat).toBe(3600);
  const { key } = await makeKey(test);
  const byKey = await open('POST', '/api/token', { cookie: shared, headers: { authorization: `Bearer ${key}` } });
  expect(claimsOf((await byKey.api.tokens.issue({ audience: 'orders' })).token).kind).toBe('key');
});

it('signs out: the session itself ends, which the activity records, and both cookies are cleared', async () => {
  const { shared, token, userId } = await signIn();
  const { api, cookies } = await open('POST', '/api/logout', {
    cookie: shared,
    headers: { origin: app, 'sec-fetch-site': 'same-site' },
  });
  expect(await api.signIn.out()).toEqual({ ok: true });
  expect(await readSession(test.app, token)).toBeNull();
  const cleared = cookies.lines.filter((line) => line.includes('Max-Age=0')).map((line) => line.split('=')[0]);
  expect(cleared.sort()).toEqual(['__Host-session', '__Secure-gatehouse']);
  const [row] = await test.app.sql`select 1 from audit_events where action = 'signed-out' and user_id = ${userId}`;
  expect(row).toBeDefined();
});

it('passes a sign-out from the pages of a product, whatever Sec-Fetch-Site says, and no other request', async () => {
  for (const site of ['same-site', 'cross-site', null])
    await open('POST', '/api/logout', { headers: { origin: app, ...(site && { 'sec-fetch-site': site }) } });
  const refused = { code: 'FOREIGN_ORIGIN' };
  for (const [path, origin] of [
    ['/api/logout', 'https://evil.example'],
    ['/api/logout', `${app}.evil.example`],
    ['/api/logout', 'null'],
    ['/logout', app],
    ['/api/login', app],
    ['/api/token', app],
    ['/api/trpc/signIn.out', app],
  ] as const)
    await expect(
      open('POST', path, { headers: { origin, 'sec-fetch-site': 'same-site' } }),
      `${origin} ${path}`,
    ).rejects.toMatchObject(refused);
});

it('gives a session’s browser a shared cookie that it lacks, and the older one is void', async () => {
  const { token, shared } = await signIn();
  const keep = async (cookie: string, change: { method?: string; headers?: Record<string, string> } = {}) => {
    const state: RequestState & { cookies: ReturnType<typeof cookieJar> } = await open('GET', '/login', { cookie });
    const request = { method: 'GET', headers: new Headers(change.headers), ...(change.method && change) };
    await keepSharedCookie(state, state.cookies, { ...request, headers: new Headers(change.headers) });
    return state.cookies.lines.find((line) => line.startsWith('__Secure-gatehouse='))?.split(';')[0];
  };
  const own = `__Host-session=${token}`;
  const isValid = async (cookie: string) => (await open('GET', '/api/session', { cookie })).principal !== null;

  expect(await keep(`${own}; ${shared}`)).toBeUndefined();
  expect(await keep('')).toBeUndefined();
  expect(await keep(own, { method: 'HEAD' })).toBeUndefined();
  expect(await keep(own, { headers: { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' } })).toBeUndefined();
  expect(await isValid(shared)).toBe(true);

  const again = await keep(own);
  expect(again).toBeDefined();
  expect(await isValid(again ?? '')).toBe(true);
  expect(await isValid(shared)).toBe(false);
  // The browser holds a cookie, but not that of this session.
  expect(await keep(`${own}; ${shared}`)).toBeDefined();

  // A session from before COOKIE_DOMAIN has none.
  await test.app.sql`update sessions set shared_hash = null`;
  expect(await keep(own)).toBeDefined();
});
