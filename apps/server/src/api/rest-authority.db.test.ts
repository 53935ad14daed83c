import type { Principal } from '@gatehouse/api/auth/principal';
import { readSession, startSession } from '@gatehouse/api/auth/sessions/session';
import { answerMatch, matchOf } from '@gatehouse/api/http/answer-endpoint';
import { newRequestState } from '@gatehouse/api/http/open-request';
import { endpoints } from '@gatehouse/api/router/endpoints';
import { declineOwner, suspendUser } from '@gatehouse/api/testing/admin-commands';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, callerFor, makeAccount, makeOwner, testClient } from '@gatehouse/api/testing/factories';
import { keyPrincipals } from '@gatehouse/api/testing/keys';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpointRequestOf } from './testing/serve-endpoints.ts';

const listed = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
const ofRouter = listed.filter((endpoint) => endpoint.includes(' /api/'));

/** READ and ADMIN need a user; 'held READ' any principal with the scope, 'key' a key that writes. */
type Need =
  | 'none'
  | 'session'
  | 'approved'
  | 'READ'
  | 'ADMIN'
  | 'held READ'
  | 'key'
  | 'operator’s key'
  | 'deployment'
  | 'MANAGE';

/** The scope that each endpoint needs. The test below fails for an endpoint that is missing here. */
const needs: Record<string, Need> = {
  'POST /api/fresh': 'session',
  'POST /api/login': 'none',
  'POST /api/login/passkey': 'none',
  'POST /api/login/passkey/options': 'none',
  'POST /api/login/second-step': 'none',
  'GET /api/factors': 'approved',
  'POST /api/factors/passkey': 'approved',
  'POST /api/factors/passkey/options': 'approved',
  'POST /api/factors/recovery-codes': 'approved',
  'POST /api/factors/remove': 'approved',
  'POST /api/factors/totp': 'approved',
  'POST /api/factors/totp/confirm': 'approved',
  'POST /api/logout': 'none',
  'POST /api/signup': 'none',
  'POST /api/signup/resend': 'none',
  'GET /api/openapi.json': 'none',
  'GET /api/session': 'READ',
  'GET /api/subscription': 'READ',
  'POST /api/billing/checkout': 'ADMIN',
  'POST /api/billing/currency': 'ADMIN',
  'POST /api/billing/portal': 'ADMIN',
  'POST /api/billing/cancel': 'ADMIN',
  'POST /api/billing/resume': 'ADMIN',
  'GET /api/changes': 'held READ',
  'GET /api/organisations': 'deployment',
  'GET /api/organisations/{id}/entitlements': 'held READ',
  'GET /api/organisations/{id}/entitlements/{name}': 'held READ',
  'GET /api/organisations/{id}/members': 'held READ',
  'GET /api/users': 'MANAGE',
  'POST /api/users': 'MANAGE',
  'GET /api/users/{id}': 'MANAGE',
  'DELETE /api/users/{id}': 'MANAGE',
  'POST /api/users/{id}/suspend': 'MANAGE',
  'POST /api/users/{id}/restore': 'MANAGE',
  'POST /api/users/{id}/end-sessions': 'MANAGE',
  'POST /api/users/{id}/password-link': 'MANAGE',
  'POST /api/organisations': 'MANAGE',
  'GET /api/organisations/{id}': 'MANAGE',
  'PATCH /api/organisations/{id}': 'MANAGE',
  'DELETE /api/organisations/{id}': 'MANAGE',
  'POST /api/organisations/{id}/approve': 'MANAGE',
  'POST /api/organisations/{id}/decline': 'MANAGE',
  'POST /api/organisations/{id}/suspend': 'MANAGE',
  'POST /api/organisations/{id}/restore': 'MANAGE',
  'POST /api/organisations/{id}/members': 'MANAGE',
  'PATCH /api/organisations/{id}/members/{user}': 'MANAGE',
  'DELETE /api/organisations/{id}/members/{user}': 'MANAGE',
  'GET /api/organisations/{id}/invitations': 'MANAGE',
  'POST /api/organisations/{id}/invitations': 'MANAGE',
  'DELETE /api/organisations/{id}/invitations/{invitation}': 'MANAGE',
  'GET /api/organisations/{id}/override': 'MANAGE',
  'PUT /api/organisations/{id}/override': 'MANAGE',
  'DELETE /api/organisations/{id}/override': 'MANAGE',
  'POST /api/token': 'held READ',
  'GET /api/usage/{meter}': 'held READ',
  'PUT /api/usage/{meter}': 'operator’s key',
  'POST /api/usage/commit': 'key',
  'POST /api/usage/release': 'key',
  'POST /api/usage/report': 'operator’s key',
  'POST /api/usage/reserve': 'key',
};

const answersBeside: Record<string, number[]> = {
  'POST /api/login/second-step': [401],
  'POST /api/factors/recovery-codes': [409],
  // The test's key was made without --password-links.
  'POST /api/users/{id}/password-link': [403],
};

/** The scopes of each kind of principal, and the status of an endpoint that needs another one. */
const kinds: Record<string, { has: Need[]; otherwise: number }> = {
  'no session': { has: ['none'], otherwise: 401 },
  'session of a suspended user': { has: ['none'], otherwise: 401 },
  'session of a declined user': { has: ['none'], otherwise: 401 },
  'awaiting approval': { has: ['none', 'session'], otherwise: 403 },
  'without organisation': { has: ['none', 'session', 'approved'], otherwise: 403 },
  viewer: { has: ['none', 'session', 'approved', 'READ', 'held READ'], otherwise: 403 },
  member: { has: ['none', 'session', 'approved', 'READ', 'held READ'], otherwise: 403 },
  admin: { has: ['none', 'session', 'approved', 'READ', 'held READ', 'ADMIN'], otherwise: 403 },
  owner: { has: ['none', 'session', 'approved', 'READ', 'held READ', 'ADMIN'], otherwise: 403 },
  operator: { has: ['none', 'session', 'approved', 'READ', 'held READ', 'ADMIN'], otherwise: 403 },
  'revoked key': { has: ['none'], otherwise: 401 },
  'key of a suspended organisation': { has: ['none'], otherwise: 403 },
  'key of an organisation that awaits approval': { has: ['none'], otherwise: 403 },
  'key that reads': { has: ['none', 'held READ'], otherwise: 403 },
  'key that writes': { has: ['none', 'held READ', 'key'], otherwise: 403 },
  'key that an operator made': { has: ['none', 'held READ', 'key', 'operator’s key'], otherwise: 403 },
  'deployment’s key that reads': { has: ['none', 'held READ', 'deployment'], otherwise: 403 },
  'deployment’s key that writes': { has: ['none', 'held READ', 'key', 'operator’s key', 'deployment'], otherwise: 403 },
  'deployment’s key that manages': {
    has: ['none', 'held READ', 'key', 'operator’s key', 'deployment', 'MANAGE'],
    otherwise: 403,
  },
};

let test: TestApp;
const principals: Record<string, Principal | null> = { 'no session': null };
beforeAll(async () => {
  test = await startTestApp({ environment: { TOKEN_TTL_SECONDS: '300' } });
  const owner = await makeOwner(test);
  principals['session of a suspended user'] = await principalAfter(
    await addMember(test, owner.organisationId, 'admin'),
    ({ email }) => suspendUser(test.app, email),
  );
  principals['session of a declined user'] = await principalAfter(
    await makeOwner(test, { approved: false }),
    ({ email }) => declineOwner(test.app, email, 'Unknown.'),
  );
  principals['without organisation'] = (await makeAccount(test)).principal;
  principals['awaiting approval'] = (await makeOwner(test, { approved: false })).principal;
  for (const role of ['viewer', 'member', 'admin'] as const) {
    principals[role] = (await addMember(test, owner.organisationId, role)).principal;
  }
  principals.owner = owner.principal;
  principals.operator = (await makeOwner(test, { operator: true })).principal;
  Object.assign(principals, await keyPrincipals(test, owner.organisationId));
});
afterAll(() => test.close());

type Made = Awaited<ReturnType<typeof makeOwner>>;

/** The principal of a session on the first request after a change to its account. */
async function principalAfter(made: Made, change: (made: Made) => Promise<unknown>): Promise<Principal | null> {
  const { userId, organisationId } = made;
  const session = await startSession(test.app, { userId, organisationId, client: testClient });
  await change(made);
  return readSession(test.app, session);
}

/** Asks about the principal's own organisation, and a meter, where the path has parameters. */
async function ask(
  endpoint: string,
  principal: Principal | null,
  params = { id: principal?.organisationId ?? 'unknown', name: 'projects', meter: 'projects' },
) {
  const [method = '', pattern = ''] = endpoint.split(' ');
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: keyof typeof params) => params[name]);
  const cookies = { get: () => undefined, set: () => {}, delete: () => {} };
  const url = new URL(path, 'http://localhost:3999');
  const request = endpointRequestOf(test.app, new Request(url, { method }), cookies);
  const state = { ...newRequestState(test.app), principal, api: callerFor(test, principal) };
  const { status, body } = await answerMatch(state, request, matchOf(url.pathname, test.app));
  return { status, text: body };
}

it('covers every kind of principal', () => {
  expect(Object.keys(principals).sort()).toEqual(Object.keys(kinds).sort());
});

it('covers every endpoint of the router, and finds each by its path', () => {
  expect(ofRouter.sort()).toEqual(Object.keys(needs).sort());
  for (const { method, path } of endpoints) {
    const found = matchOf(path.replace(/\{\w+\}/g, 'x'), test.app);
    expect(found.route).toBe(path.replaceAll('{', '[').replaceAll('}', ']'));
    expect(found.methods).toContain(method.toUpperCase());
  }
});

describe.each(Object.entries(kinds))('%s', (who, { has, otherwise }) => {
  it.each(Object.entries(needs))('at %s, which needs %s', async (endpoint, need) => {
    const { status } = await ask(endpoint, principals[who] as Principal | null);
    if (!has.includes(need)) expect(status).toBe(otherwise);
    // A key of the deployment names an organisation, and the test's is unknown to it.
    // Without an attempt there is no second step, and without a factor there are no recovery codes.
    else expect([200, 400, 404, ...(answersBeside[endpoint] ?? [])]).toContain(status);
  });
});

it.each(Object.keys(needs))('%s shows the owner of another organisation nothing of this one', async (endpoint) => {
  const [mine, theirs] = [await makeOwner(test), await makeOwner(test, { name: 'Secretive Ltd' })];
  const params = { id: theirs.organisationId, name: 'projects', meter: 'projects' };
  const { text } = await ask(endpoint, mine.principal, params);
  for (const secret of [theirs.organisationId, theirs.email, theirs.userId, 'Secretive Ltd', 'secretive-ltd']) {
    expect(text).not.toContain(secret);
  }
});
