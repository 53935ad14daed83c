import { startSession } from '@gatehouse/api/auth/sessions/session';
import { suspendOrganisation, suspendUser } from '@gatehouse/api/testing/admin-commands';
import { serviceUrl, startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, givePlan, makeOwner, testClient } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { createRemoteJWKSet, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGatehouse } from '../../../../../packages/client/src/client.ts';
import { answer, serveEndpoints } from '../testing/serve-endpoints.ts';

let test: TestApp;
let served: Awaited<ReturnType<typeof serveEndpoints>>;
let owner: Awaited<ReturnType<typeof makeOwner>>;
beforeAll(async () => {
  test = await startTestApp({ environment: { TOKEN_TTL_SECONDS: '300' } });
  served = await serveEndpoints(test.app);
  owner = await makeOwner(test);
});
afterAll(async () => {
  await served.close();
  await test.close();
});

async function sessionOf({ userId, organisationId }: { userId: string; organisationId: string }) {
  return `session=${await startSession(test.app, { userId, organisationId, client: testClient })}`;
}

async function ask(headers: Record<string, string>, body: unknown = {}) {
  const answered = await fetch(`${served.url}/api/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return {
    status: answered.status,
    body: (await answered.json()) as { token: string; expires_at: string; code?: string },
  };
}

const verified = async (token: string, audience = serviceUrl) =>
  (
    await jwtVerify(token, createRemoteJWKSet(new URL(`${served.url}/.well-known/jwks.json`)), {
      issuer: serviceUrl,
      audience,
      algorithms: ['EdDSA'],
    })
  ).payload;

it('exchanges a session for a token with its user, organisation, scopes and plan', async () => {
  await givePlan(test, owner.organisationId, 'gold');
  const { status, body } = await ask({ cookie: await sessionOf(owner) }, { audience: 'https://app.example' });
  expect(status).toBe(200);
  const claims = await verified(body.token, 'https://app.example');
  expect(claims).toEqual({
    iss: serviceUrl,
    aud: 'https://app.example',
    sub: owner.userId,
    kind: 'user',
    organisation: owner.organisationId,
    role: 'owner',
    scopes: ['READ', 'WRITE', 'ADMIN'],
    tier: 'gold',
    iat: expect.any(Number),
    exp: (claims.iat ?? 0) + 300,
    jti: expect.any(String),
  });
  expect(Date.parse(body.expires_at)).toBe((claims.exp ?? 0) * 1000);
  expect((await verified((await ask({ cookie: await sessionOf(owner) })).body.token)).jti).not.toBe(claims.jti);
});

it('exchanges a key for a token of the key', async () => {
  const own = await makeKey(test, { organisationId: owner.organisationId, scope: 'READ' });
  const of = async ({ key }: { key: string }) =>
    verified((await ask({ authorization: `Bearer ${key}`, origin: 'https://elsewhere.example' })).body.token);
  const about = {
    sub: own.id,
    kind: 'key',
    organisation: owner.organisationId,
    role: null,
    scopes: ['READ'],
    tier: 'gold',
  };
  expect(await of(own)).toMatchObject(about);
  expect(await of(await makeKey(test))).toMatchObject({ organisation: null, scopes: ['READ', 'WRITE'], tier: null });
});

it('gives no token without a session, before the approval, to a suspended user, or to another site', async () => {
  const awaiting = await makeOwner(test, { approved: false });
  const closed = await makeOwner(test);
  const closedKey = await makeKey(test, { organisationId: closed.organisationId });
  const suspended = await addMember(test, owner.organisationId, 'member');
  const cookies = await Promise.all([awaiting, closed, suspended].map(sessionOf));
  await suspendOrganisation(test.app, closed.principal.organisation?.slug ?? '');
  await suspendUser(test.app, suspended.email);

  const code = async (headers: Record<string, string>) => (await ask(headers)).body.code;
  expect(await Promise.all(cookies.map((cookie) => code({ cookie })))).toEqual([
    'AWAITING_APPROVAL',
    'UNAUTHENTICATED',
    'UNAUTHENTICATED',
  ]);
  expect(await code({})).toBe('UNAUTHENTICATED');
  expect(await code({ authorization: `Bearer ${closedKey.key}` })).toBe('FORBIDDEN');
  const cookie = await sessionOf(owner);
  expect(await code({ cookie, origin: 'https://elsewhere.example' })).toBe('FOREIGN_ORIGIN');
  expect(await code({ cookie, 'sec-fetch-site': 'same-site' })).toBe('FOREIGN_ORIGIN');
  expect((await ask({ cookie }, { audience: '' })).status).toBe(400);
});

it('may be cached for five minutes, and contains no private key', async () => {
  const answered = await fetch(`${served.url}/.well-known/jwks.json`);
  expect(answered.headers.get('cache-control')).toBe('public, max-age=300');
  expect(await answered.json()).toEqual({
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: expect.any(String), alg: 'EdDSA', use: 'sig' }],
  });
});

it('answers 404 to every method and caller unless TOKEN_TTL_SECONDS is set', async () => {
  const config = { ...test.app.config, tokens: null };
  const { key } = await makeKey(test);
  for (const [path, method] of [
    ['/api/token', 'POST'],
    ['/api/token', 'GET'],
    ['/.well-known/jwks.json', 'GET'],
    ['/.well-known/jwks.json', 'POST'],
    ['/api/trpc/tokens.issue', 'POST'],
    ['/api/trpc/tokens.keySet', 'GET'],
  ]) {
    const request = new Request(new URL(path ?? '', serviceUrl), {
      method: method ?? '',
      headers: { authorization: `Bearer ${key}` },
    });
    const { status } = await answer({ ...test.app, config }, request);
    expect([path, method, status]).toEqual([path, method, 404]);
  }
});

it('is accepted by the client, which refuses every other token', async () => {
  const gatehouse = createGatehouse({ url: served.url });
  const issuer = { issuer: serviceUrl };
  const { token } = await gatehouse.tokens.issueForSession(await sessionOf(owner), { audience: 'notes' });
  const expected = { ...issuer, audience: 'notes' };
  const claims = await Promise.all([1, 2, 3].map(() => gatehouse.tokens.verify(token, expected)));
  expect(claims[0]).toMatchObject({ sub: owner.userId, organisation: owner.organisationId, aud: 'notes' });

  const [head, body = '', signature] = token.split('.');
  const forged = new SignJWT({ sub: owner.userId }).setProtectedHeader({ alg: 'HS256', kid: 'x' });
  const wrong = [
    '',
    'a.b.c',
    `${head}.${body}`,
    `${token}.x`,
    `${head}.${body}A.${signature}`,
    `${head}.${body}.${'A'.repeat(86)}`,
    new UnsecuredJWT({ ...claims[0] }).encode(),
    await forged.sign(new TextEncoder().encode('x'.repeat(32))),
    `${'x'.repeat(9000)}.${body}.${signature}`,
  ];
  for (const each of wrong) {
    await expect(gatehouse.tokens.verify(each, expected), each).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  }
  const refused = { status: 401, code: 'UNAUTHENTICATED' };
  await expect(gatehouse.tokens.verify(token, issuer)).rejects.toMatchObject(refused);
  await expect(gatehouse.tokens.verify(token, { audience: 'notes' })).rejects.toMatchObject(refused);
});
