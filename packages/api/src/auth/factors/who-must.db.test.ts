import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { grantOperator } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { newBrowser } from '../../testing/browser.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import {
  addMember,
  callerFor,
  linkSubject,
  makeInvitation,
  makeOwner,
  testClient,
  testPassword,
} from '../../testing/factories.ts';
import { addTotp, nextCode } from '../../testing/factors.ts';
import { keyPrincipals } from '../../testing/keys.ts';
import { lockUser } from '../sessions/account.ts';
import { readSession } from '../sessions/session.ts';
import { openSession } from '../sign-in/open-session.ts';
import { beginFactorGrace, missingFactor } from './who-must.ts';

const day = 86_400_000;

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ environment: { SECOND_FACTOR: 'operators', TOKEN_TTL_SECONDS: '300' } });
  test.stopClock();
});
afterAll(() => test.close());

type Facts = Parameters<typeof missingFactor>[1];
const plain: Facts = { operator: false, hasFactor: false, identityFactor: false, requiredFrom: null };

describe.each([
  ['none', {}, null],
  ['none', { operator: true }, null],
  ['operators', {}, null],
  ['operators', { operator: true }, 'deployment'],
  ['operators', { operator: true, hasFactor: true }, null],
  // An identity is no factor of an operator, and in no organisation that requires one.
  ['operators', { operator: true, identityFactor: true }, 'deployment'],
  ['operators', { operator: true, identityFactor: true, hasFactor: true }, 'deployment'],
  ['everybody', {}, 'deployment'],
  ['everybody', { hasFactor: true }, null],
  ['everybody', { identityFactor: true }, null],
  ['everybody', { identityFactor: true, operator: true }, 'deployment'],
  ['everybody', { hasFactor: true, identityFactor: true }, null],
  ['none', { requiredFrom: new Date(0) }, 'organisation'],
  ['none', { requiredFrom: new Date('2999-01-01') }, null],
  ['none', { requiredFrom: new Date(0), hasFactor: true }, null],
  ['none', { requiredFrom: new Date(0), identityFactor: true }, 'organisation'],
  ['none', { requiredFrom: new Date(0), identityFactor: true, hasFactor: true }, 'organisation'],
  ['everybody', { requiredFrom: new Date(0) }, 'deployment'],
] as const)('SECOND_FACTOR=%s and a user with %o', (secondFactor, facts, expected) => {
  it(`misses ${expected === null ? 'nothing' : `what the ${expected} requires`}`, () => {
    const app = { ...test.app, config: { ...test.app.config, secondFactor } };
    expect(missingFactor(app, { ...plain, ...facts })).toBe(expected);
  });
});

it('an identity is no factor of everybody where the provider is not trusted', () => {
  const config = { ...test.app.config, secondFactor: 'everybody' as const, idpTrustedForSecondFactor: false };
  expect(missingFactor({ ...test.app, config }, { ...plain, identityFactor: true })).toBe('deployment');
});

async function signedIn(email: string) {
  const browser = newBrowser(test);
  expect(await browser.post('/api/login', { email, password: testPassword })).toMatchObject({ status: 200 });
  return browser;
}

/** Requires a factor of an organisation's members from now on. */
async function require(organisationId: string, from: Date | null = test.app.now()) {
  await test.app.db.update(organisations).set({ secondFactorFrom: from }).where(eq(organisations.id, organisationId));
}

const setup = { status: 403, body: { code: 'SECOND_FACTOR_SETUP' } };

it('an operator without a factor can sign out, and set one up; all else waits for it', async () => {
  const { email } = await makeOwner(test, { operator: true });
  const browser = await signedIn(email);
  for (const path of ['/api/session', '/api/subscription']) expect(await browser.get(path)).toMatchObject(setup);
  for (const path of ['/api/token', '/api/billing/checkout', '/api/factors/recovery-codes', '/api/factors/remove'])
    expect(await browser.post(path, { audience: 'x' }), path).toMatchObject(setup);
  expect(await browser.get('/api/openapi.json')).toMatchObject({ status: 200 });
  expect(await browser.get('/api/factors')).toMatchObject({ status: 200 });

  const { secret } = (await browser.post('/api/factors/totp')).body;
  const confirmed = await browser.post('/api/factors/totp/confirm', { totp: await nextCode(test, secret) });
  expect(confirmed.body.recovery_codes).toHaveLength(10);
  expect(await browser.get('/api/session')).toMatchObject({ status: 200 });
  // The last factor of who must have one stays.
  expect(await browser.post('/api/factors/remove', { id: 'totp' })).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT' },
  });
  expect(await browser.get('/api/factors')).toMatchObject({ body: { totp: true, recovery_codes_left: 10 } });
  expect(await browser.post('/api/logout')).toMatchObject({ status: 200 });
});

it('setting one up needs a fresh session', async () => {
  const { email } = await makeOwner(test, { operator: true });
  const browser = await signedIn(email);
  test.advance(16 * 60_000);
  expect(await browser.post('/api/factors/totp')).toMatchObject({ body: { code: 'FRESH_SIGN_IN_REQUIRED' } });
  expect(await browser.post('/api/fresh', { password: testPassword })).toMatchObject({ status: 200 });
  expect(await browser.post('/api/factors/totp')).toMatchObject({ status: 200 });
});

it('a key of an organisation that requires a factor is not concerned', async () => {
  const keys = await keyPrincipals(test);
  const key = keys['key that reads'];
  await require(key?.organisation?.id ?? '');
  expect(key && (await callerFor(test, key).members.list({ organisation: key.organisation?.id ?? '' }))).toBeDefined();
});

it('a member without the factor that the organisation requires can act for another one, or leave', async () => {
  const [owner, other] = [await makeOwner(test), await makeOwner(test)];
  await owner.api.members.join({ token: await makeInvitation(other) });
  const { organisationId } = other;
  await require(organisationId, new Date(test.app.now().getTime() + day));
  const browser = await signedIn(owner.email);
  const turnTo = (id: string) => browser.post('/api/trpc/organisations.switch', { organisation_id: id });
  await turnTo(organisationId);
  expect(await browser.get('/api/session')).toMatchObject({
    status: 200,
    body: { organisation: { id: organisationId } },
  });

  test.advance(day);
  expect(await browser.get('/api/session')).toMatchObject(setup);
  expect(await browser.post('/api/trpc/members.search', {})).not.toMatchObject({ status: 200 });
  expect(await turnTo(owner.organisationId)).toMatchObject({ status: 200 });
  expect(await browser.get('/api/session')).toMatchObject({ body: { scopes: ['READ', 'WRITE', 'ADMIN'] } });
  expect(await turnTo(organisationId)).toMatchObject({ status: 200 });
  expect(await browser.get('/api/session')).toMatchObject(setup);
  expect(await browser.post('/api/trpc/members.leave', { organisation_id: organisationId })).toMatchObject({
    status: 200,
  });
  expect(await browser.get('/api/session')).toMatchObject({ body: { organisation: { id: owner.organisationId } } });
});

it('a session that an identity opened as its own factor gives the account’s one where the organisation requires it', async () => {
  const { userId, organisationId, api, email } = await makeOwner(test);
  const { secret } = await addTotp(test, api);
  const subject = `subject of ${userId}`;
  await linkSubject(test, userId, subject);
  await test.app.db.update(identities).set({ countsAsFactor: true }).where(eq(identities.subject, subject));
  const byIdentity = () => openSession(test.app, { userId, organisationId, idpSubject: subject }, testClient);
  const opened = await byIdentity();
  if (opened.kind !== 'session') throw new Error('no session');
  const browser = newBrowser(test, { kept: { session: opened.token } });
  expect(await browser.get('/api/session')).toMatchObject({ status: 200 });

  await require(organisationId);
  expect(await browser.get('/api/session')).toMatchObject(setup);
  expect((await browser.trpc('factors.requirement', undefined)).body).toMatchObject({
    required_by: 'organisation',
    has_factor: true,
  });
  const proof = { password: testPassword, totp: await nextCode(test, secret) };
  expect(await browser.post('/api/fresh', proof)).toMatchObject({ status: 200 });
  expect(await browser.get('/api/session')).toMatchObject({ status: 200, body: { user: { email } } });
  // From now on a sign-in with it asks for the step at once.
  expect((await byIdentity()).kind).toBe('step');
});

it('a session that an identity opened as its own factor gives no other one by unlinking it', async () => {
  const [owner, other] = [await makeOwner(test), await makeOwner(test)];
  await addTotp(test, owner.api);
  await owner.api.members.join({ token: await makeInvitation(other) });
  await require(other.organisationId);
  const { userId, organisationId } = owner;
  const subject = `subject of ${userId}`;
  await linkSubject(test, userId, subject);
  await test.app.db.update(identities).set({ countsAsFactor: true }).where(eq(identities.subject, subject));
  const opened = await openSession(test.app, { userId, organisationId, idpSubject: subject }, testClient);
  if (opened.kind !== 'session') throw new Error('no session');

  const browser = newBrowser(test, { kept: { session: opened.token } });
  expect(await browser.trpc('accounts.unlinkIdentity', { password: testPassword })).toMatchObject({ status: 200 });
  expect(await browser.get('/api/session')).toMatchObject({ status: 200 });
  const turn = { organisation_id: other.organisationId };
  expect(await browser.post('/api/trpc/organisations.switch', turn)).toMatchObject({ status: 200 });
  expect(await browser.get('/api/session')).toMatchObject(setup);
});

it('a new account of the identity provider has its factor by it, where everybody must have one', async () => {
  const config = { ...test.app.config, secondFactor: 'everybody' as const };
  const everybody = { ...test.app, config };
  const { userId, organisationId } = await makeOwner(test);
  const subject = `new subject of ${userId}`;
  await linkSubject(test, userId, subject);
  const scopesBy = async (app: TestApp['app']) => {
    const opened = await openSession(app, { userId, organisationId, idpSubject: subject }, testClient);
    return opened.kind === 'session' ? (await readSession(app, opened.token))?.scopes : null;
  };
  expect(await scopesBy(everybody)).toEqual([]);
  await test.app.db.update(identities).set({ countsAsFactor: true }).where(eq(identities.subject, subject));
  expect(await scopesBy(everybody)).toEqual(['READ', 'WRITE', 'ADMIN']);
  expect(await scopesBy({ ...everybody, config: { ...config, idpTrustedForSecondFactor: false } })).toEqual([]);
});

it('the last factor stays for who must have one by any organisation of theirs, from its day on', async () => {
  const [owner, other] = [await makeOwner(test), await makeOwner(test)];
  await owner.api.members.join({ token: await makeInvitation(other) });
  await require(other.organisationId, new Date(test.app.now().getTime() + day));
  await addTotp(test, owner.api);
  await owner.api.factors.remove({ id: 'totp' });
  await addTotp(test, owner.api);
  await require(other.organisationId);
  await expect(owner.api.factors.remove({ id: 'totp' })).rejects.toMatchObject({ cause: { code: 'CONFLICT' } });
});

describe('an owner requires a factor of the organisation', () => {
  const today = () => test.app.now().toISOString().slice(0, 10);

  async function withFactor() {
    const owner = await makeOwner(test);
    await addTotp(test, owner.api);
    const { user } = owner.principal;
    const principal = { ...owner.principal, hasFactor: true, freshUntil: new Date(test.app.now().getTime() + 60_000) };
    return { ...owner, user, principal, api: callerFor(test, principal) };
  }

  it('and sees who has none', async () => {
    const { api, organisationId } = await withFactor();
    const member = await addMember(test, organisationId, 'member');
    await api.organisations.requireSecondFactor({ organisation_id: organisationId, from: today() });
    expect(await api.organisations.secondFactorRule()).toMatchObject({
      from: today(),
      without: [{ email: member.email }],
      total_without: 1,
    });
    await api.organisations.requireSecondFactor({ organisation_id: organisationId, from: '' });
    expect(await api.organisations.secondFactorRule()).toMatchObject({ from: null });
  });

  it.each(['2001-01-01', '2999-01-01', 'soon', '2026-02-31'])('not from %s on', async (from) => {
    const { api, organisationId } = await withFactor();
    await expect(
      api.organisations.requireSecondFactor({ organisation_id: organisationId, from }),
    ).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
  });

  it('but not without a factor of their own, without a fresh session, or as an admin', async () => {
    const { organisationId, principal } = await withFactor();
    const refused = (changed: object) =>
      callerFor(test, { ...principal, ...changed })
        .organisations.requireSecondFactor({ organisation_id: organisationId, from: today() })
        .then(
          () => 'done',
          (error) => error.cause.code,
        );
    expect(await refused({ hasFactor: false })).toBe('CONFLICT');
    expect(await refused({ freshUntil: test.app.now() })).toBe('FRESH_SIGN_IN_REQUIRED');
    expect(await refused({ role: 'admin' })).toBe('FORBIDDEN');
  });
});

describe('an operator without a factor for seven days', () => {
  async function factorDueAt(userId: string) {
    const [user] = await test.app.db.select().from(users).where(eq(users.id, userId));
    return user?.factorDueAt ?? null;
  }
  async function operates(email: string, secret: string) {
    const browser = newBrowser(test);
    await browser.post('/api/login', { email, password: testPassword });
    expect(await browser.post('/api/login/second-step', { totp: await nextCode(test, secret) })).toMatchObject({
      status: 200,
    });
    return (await browser.get('/api/trpc/operators.keys')).status;
  }

  it('loses the power of the mark, also with a factor set up later, until it is granted again', async () => {
    const { email, userId } = await makeOwner(test, { operator: true });
    await beginFactorGrace(test.app);
    const due = await factorDueAt(userId);
    expect(due).toEqual(new Date(test.app.now().getTime() + 7 * day));
    test.advance(day);
    await beginFactorGrace(test.app);
    expect(await factorDueAt(userId)).toEqual(due);

    test.advance(6 * day);
    const browser = await signedIn(email);
    const { secret } = (await browser.post('/api/factors/totp')).body;
    await browser.post('/api/factors/totp/confirm', { totp: await nextCode(test, secret) });
    expect(await factorDueAt(userId)).toEqual(due);
    expect(await operates(email, secret)).toBe(403);
    // An operator in all else: no browser is trusted, and the last factor stays.
    expect(await browser.post('/api/factors/remove', { id: 'totp' })).toMatchObject({ status: 409 });

    await grantOperator(test.app, email);
    expect(await operates(email, secret)).toBe(200);
    await beginFactorGrace(test.app);
    expect(await factorDueAt(userId)).toBeNull();
  });

  it('has no end of them if a factor is set up while they begin', async () => {
    const { email, userId } = await makeOwner(test, { operator: true });
    const browser = await signedIn(email);
    const { secret } = (await browser.post('/api/factors/totp')).body;
    const totp = await nextCode(test, secret);
    const both = await test.app.db.transaction(async (tx) => {
      await lockUser(tx, userId);
      const confirming = browser.post('/api/factors/totp/confirm', { totp });
      await waitingForLocks(test, 1);
      const beginning = beginFactorGrace(test.app);
      await waitingForLocks(test, 2);
      return { confirming, beginning };
    });
    expect(await both.confirming).toMatchObject({ status: 200 });
    await both.beginning;
    expect(await factorDueAt(userId)).toBeNull();
  });

  it('approves no organisation of their own any more', async () => {
    const { email, organisationId } = await makeOwner(test, { operator: true });
    await beginFactorGrace(test.app);
    test.advance(7 * day);
    const browser = await signedIn(email);
    const { secret } = (await browser.post('/api/factors/totp')).body;
    await browser.post('/api/factors/totp/confirm', { totp: await nextCode(test, secret) });
    const own = { org_name: 'Another one' };
    expect((await browser.trpc('organisations.create', own)).body).toEqual({ awaiting_approval: true });
    expect((await browser.get('/api/session')).body).toMatchObject({ organisation: { id: organisationId } });
  });

  it('keeps it with one that is set up in time', async () => {
    const { email, userId } = await makeOwner(test, { operator: true });
    await beginFactorGrace(test.app);
    test.advance(6 * day);
    const browser = await signedIn(email);
    const { secret } = (await browser.post('/api/factors/totp')).body;
    await browser.post('/api/factors/totp/confirm', { totp: await nextCode(test, secret) });
    expect(await factorDueAt(userId)).toBeNull();
    test.advance(2 * day);
    expect(await operates(email, secret)).toBe(200);
  });
});
