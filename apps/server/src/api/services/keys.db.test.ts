import { startSession } from '@gatehouse/api/auth/sessions/session';
import { declineOwner, suspendOrganisation } from '@gatehouse/api/testing/admin-commands';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, makeOwner, makeSignUp, testClient } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askRest } from '../testing/ask-rest.ts';

// "API keys", "Order of checks" and "Keys" of the contract for a company's own services.

let test: TestApp;
let owner: Awaited<ReturnType<typeof makeOwner>>;
beforeAll(async () => {
  test = await startTestApp();
  owner = await makeOwner(test);
});
afterAll(() => test.close());

const entitlementsOf = (organisation: string) => `/api/organisations/${organisation}/entitlements`;
const reserve = (organisation: unknown, more: object = {}) => ({
  organisation,
  meter: 'projects',
  idempotency_key: crypto.randomUUID(),
  ...more,
});

it('a request with a key and a cookie is authenticated by the key', async () => {
  const { userId, organisationId } = owner;
  const session = await startSession(test.app, { userId, organisationId, client: testClient });
  const other = await makeOwner(test);
  const { key } = await makeKey(test, { organisationId: other.organisationId });
  const cookies = { session };

  expect((await askRest(test, 'GET', entitlementsOf(organisationId), { cookies })).status).toBe(200);
  expect((await askRest(test, 'GET', entitlementsOf(organisationId), { cookies, key })).status).toBe(404);
  expect((await askRest(test, 'GET', entitlementsOf(other.organisationId), { cookies, key })).status).toBe(200);
  expect((await askRest(test, 'GET', entitlementsOf(organisationId), { cookies, key: `${key}x` })).status).toBe(401);
  for (const authorization of ['Basic Z2g6eA==', 'Bearer another-token', key]) {
    const headers = { authorization };
    expect((await askRest(test, 'GET', entitlementsOf(organisationId), { cookies, headers })).status).toBe(200);
  }
});

it('a key is accepted with any Origin, and no answer allows another origin to read it', async () => {
  const { key } = await makeKey(test);
  const headers = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
  const body = reserve(owner.organisationId);
  const answer = await askRest(test, 'POST', '/api/usage/reserve', { key, body, headers });
  expect(answer.status).toBe(200);
  expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  expect((await askRest(test, 'POST', '/api/usage/reserve', { body, headers })).body.code).toBe('FOREIGN_ORIGIN');
});

it('checks the key, a closed organisation, the scope, the body, the organisation and the meter, in this order', async () => {
  const closed = await makeOwner(test);
  const closedKey = await makeKey(test, { organisationId: closed.organisationId, scope: 'READ' });
  await suspendOrganisation(test.app, closed.principal.organisation?.slug ?? '');
  const { organisationId } = owner;
  const reader = await makeKey(test, { organisationId, scope: 'READ' });
  const writer = await makeKey(test, { organisationId });
  const ask = async (key: string | undefined, body: unknown) => {
    const { status, body: answer } = await askRest(test, 'POST', '/api/usage/reserve', { ...(key && { key }), body });
    return [status, answer.code, answer.error];
  };

  expect(await ask(undefined, '{')).toEqual([401, 'UNAUTHENTICATED', 'Send an API key.']);
  const unknown = [401, 'UNAUTHENTICATED', 'This API key is unknown, expired or revoked.'];
  expect(await ask('gh_test_unknown', '{')).toEqual(unknown);
  expect(await ask(writer.key.replace('gh_test_', 'gh_live_'), '{')).toEqual(unknown);
  expect(await ask(closedKey.key, '{')).toEqual([403, 'FORBIDDEN', 'This organisation is closed.']);
  expect(await ask(reader.key, '{')).toEqual([403, 'FORBIDDEN', 'This API key does not have the scope WRITE.']);
  expect(await ask(writer.key, '{')).toEqual([400, 'VALIDATION', 'The body is not valid JSON.']);
  expect((await ask(writer.key, reserve('unknown', { amount: 0 }))).slice(0, 2)).toEqual([400, 'VALIDATION']);
  const noOrganisation = [404, 'NOT_FOUND', 'There is no such organisation.'];
  expect(await ask(writer.key, reserve('unknown', { meter: 'unknown' }))).toEqual(noOrganisation);
  expect(await ask(writer.key, reserve(closed.organisationId, { meter: 'unknown' }))).toEqual(noOrganisation);
  const noMeter = [400, 'VALIDATION', 'There is no such meter.'];
  expect(await ask(writer.key, reserve(organisationId, { meter: 'unknown' }))).toEqual(noMeter);
});

it('without a key the error says to send one, where a session would not do', async () => {
  const refused = async (method: string, path: string) => (await askRest(test, method, path)).body.error;
  expect(await refused('GET', '/api/organisations')).toBe('Send an API key.');
  expect(await refused('POST', '/api/usage/report')).toBe('Send an API key.');
  expect(await refused('PUT', '/api/usage/projects')).toBe('Send an API key.');
  expect(await refused('GET', '/api/changes')).toBe('Send an API key, or sign in first.');
  expect(await refused('GET', entitlementsOf('any'))).toBe('Send an API key, or sign in first.');
  expect(await refused('GET', '/api/session')).toBe('Sign in first.');
  expect(await refused('POST', '/api/billing/cancel')).toBe('Sign in first.');
});

it('a declined organisation’s key gets 403, one that was revoked 401', async () => {
  const waiting = await makeOwner(test, { approved: false });
  const { key } = await makeKey(test, { organisationId: waiting.organisationId });
  expect((await askRest(test, 'GET', '/api/changes', { key })).body.code).toBe('AWAITING_APPROVAL');
  await declineOwner(test.app, waiting.email, 'Unknown.');
  expect((await askRest(test, 'GET', '/api/changes', { key })).status).toBe(403);

  const { id, key: mine } = await makeKey(test, { organisationId: owner.organisationId });
  expect((await askRest(test, 'GET', '/api/changes', { key: mine })).status).toBe(200);
  await owner.api.keys.revoke({ id });
  expect((await askRest(test, 'GET', '/api/changes', { key: mine })).status).toBe(401);
});

it('a key of the deployment reads an organisation that waits or is closed, and changes nothing there', async () => {
  const { key } = await makeKey(test);
  const waiting = await makeOwner(test, { approved: false });
  const closed = await makeOwner(test);
  await suspendOrganisation(test.app, closed.principal.organisation?.slug ?? '');
  const declined = await makeOwner(test, { approved: false });
  await declineOwner(test.app, declined.email, 'Unknown.');

  for (const [{ organisationId }, approval, code] of [
    [waiting, 'pending', 'AWAITING_APPROVAL'],
    [closed, 'suspended', 'FORBIDDEN'],
    [declined, 'declined', 'FORBIDDEN'],
  ] as const) {
    const read = await askRest(test, 'GET', entitlementsOf(organisationId), { key });
    expect([read.status, read.body.organisation.approval]).toEqual([200, approval]);
    const check = await askRest(test, 'GET', `${entitlementsOf(organisationId)}/projects`, { key });
    expect(check.body).toEqual({
      name: 'projects',
      allowed: false,
      used: 0,
      limit: 0,
      resets_at: null,
      allowed_by: [],
    });
    // Whoever looks at the limits and features alone gives nothing away either.
    expect(new Set(Object.values(read.body.features))).toEqual(new Set([false]));
    expect(new Set(read.body.usage.map(({ limit }: { limit: number }) => limit))).toEqual(new Set([0]));
    const [feature = ''] = Object.keys(read.body.features);
    const checked = await askRest(test, 'GET', `${entitlementsOf(organisationId)}/${feature}`, { key });
    expect(checked.body).toEqual({ name: feature, allowed: false, allowed_by: [] });
    const record = { organisation: organisationId, meter: 'api_calls', amount: 1, idempotency_key: 'k' };
    for (const [method, path, body] of [
      ['POST', '/api/usage/reserve', reserve(organisationId)],
      ['POST', '/api/usage/release', reserve(organisationId)],
      ['POST', '/api/usage/report', { records: [record] }],
      ['PUT', '/api/usage/projects', { organisation: organisationId, used: 1 }],
    ] as const) {
      const refused = await askRest(test, method, path, { key, body });
      expect([path, refused.status, refused.body.code]).toEqual([path, 403, code]);
    }
  }
});

it('a sign-up that was not verified does not exist for services', async () => {
  const { key } = await makeKey(test);
  const before = (await askRest(test, 'GET', '/api/organisations?limit=1000', { key })).body.organisations.length;
  await makeSignUp(test, { name: 'Not Verified Ltd' });
  const { organisations } = (await askRest(test, 'GET', '/api/organisations?limit=1000', { key })).body;
  expect(organisations).toHaveLength(before);
  expect((await askRest(test, 'GET', entitlementsOf('not-verified-ltd'), { key })).status).toBe(404);
});

it.each([
  ['PUT', '/api/usage/report'],
  ['GET', '/api/usage/reserve'],
  ['DELETE', '/api/usage/projects'],
  ['POST', '/api/usage/projects'],
  ['PUT', '/api/changes'],
  ['PUT', '/api/organisations'],
  ['PATCH', '/api/organisations/x/members'],
])('%s %s is not allowed', async (method, path) => {
  const { key } = await makeKey(test);
  expect((await askRest(test, method, path, { key })).body).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
});

it('only a report may have a body above 64 kB, of at most 1 MB', async () => {
  const { key } = await makeKey(test);
  const padded = (bytes: number) => JSON.stringify({ records: [] }) + ' '.repeat(bytes);
  const statusOf = async (path: string, bytes: number) =>
    (await askRest(test, 'POST', path, { key, body: padded(bytes) })).status;
  expect(await statusOf('/api/usage/report', 900_000)).toBe(200);
  expect(await statusOf('/api/usage/report', 1_000_001)).toBe(413);
  expect(await statusOf('/api/usage/reserve', 70_000)).toBe(413);
});

it('checks the size of the body before the key and its scope, so that the key is read when the body has arrived', async () => {
  const { organisationId } = owner;
  const reader = await makeKey(test, { organisationId, scope: 'READ' });
  const writer = await makeKey(test, { organisationId });
  const body = { x: 'x'.repeat(70_000) };
  const headers = { 'content-length': '70008' };
  const statusOf = async (key?: string) =>
    (await askRest(test, 'POST', '/api/usage/reserve', { ...(key && { key }), body, headers })).status;
  for (const key of [`${reader.key}x`, reader.key, writer.key, undefined]) expect(await statusOf(key)).toBe(413);
});

it('a key that is not valid gets 401 with WWW-Authenticate: Bearer (RFC 6750)', async () => {
  const { headers } = await askRest(test, 'GET', '/api/organisations', { key: 'gh_test_unknown' });
  expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
});

it('no session writes usage, of its own organisation or another', async () => {
  const sessionOf = async (role: 'member' | 'viewer') => {
    const { userId } = await addMember(test, owner.organisationId, role);
    return startSession(test.app, { userId, organisationId: owner.organisationId, client: testClient });
  };
  const ask = async (session: string, organisation: string) =>
    (await askRest(test, 'POST', '/api/usage/reserve', { cookies: { session }, body: reserve(organisation) })).status;
  for (const role of ['member', 'viewer'] as const) {
    const session = await sessionOf(role);
    expect(await ask(session, owner.organisationId)).toBe(403);
    expect(await ask(session, (await makeOwner(test)).organisationId)).toBe(403);
  }
});

it('the log contains no key, in whichever header it came and whatever the answer', async () => {
  const { key } = await makeKey(test);
  for (const authorization of [`Bearer ${key}`, `Bearer ${key}x`, `bearer  ${key}, Basic x`, `Basic ${key}`]) {
    await askRest(test, 'GET', '/api/changes?after=wrong', { headers: { authorization } });
    await askRest(test, 'POST', '/api/usage/reserve', { headers: { authorization }, body: { organisation: key } });
  }
  const answer = await askRest(test, 'GET', '/api/organisations', { key: `${key}x` });
  expect(JSON.stringify([answer.body, test.logged])).not.toContain(key.slice(8, 40));
});
