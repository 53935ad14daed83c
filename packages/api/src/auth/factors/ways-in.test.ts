import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identities, knownBrowsers, users } from '../../platform/db/schema/accounts.ts';
import { recoveryCodes, totpSecrets } from '../../platform/db/schema/factors.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { hashToken } from '../../platform/security/token.ts';
import { createPasswordLink, grantOperator, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { newBrowser } from '../../testing/browser.ts';
import {
  callerFor,
  linkSubject,
  makeIdentity,
  makeOwner,
  newEmail,
  testClient,
  testPassword,
  tokenIn,
} from '../../testing/factories.ts';
import { addTotp, nextCode } from '../../testing/factors.ts';
import { accountByEmail } from '../sessions/account.ts';
import { readPresentedSession, readSession, readSharedSession, shareSession } from '../sessions/session.ts';
import { confirmIdentity } from '../sign-in/connect-identity.ts';
import { matchUser } from '../sign-in/match-user.ts';
import { openSession } from '../sign-in/open-session.ts';
import { finishSecondStep } from '../sign-in/second-step.ts';
import { verifyEmail } from '../verification/verify-email.ts';

let test: TestApp;
let untrusting: TestApp['app'];
beforeAll(async () => {
  test = await startTestApp();
  test.stopClock();
  untrusting = { ...test.app, config: { ...test.app.config, idpTrustedForSecondFactor: false } };
});
afterAll(() => test.close());

type Made = Awaited<ReturnType<typeof makeOwner>> & { knownBrowser: string | null };

/** What a way in leads to: a session that opens, the second step, or a refusal. */
type Led = 'in' | 'step' | 'refused';

async function ledBy(made: Made, firstStep: object, app = test.app): Promise<Led> {
  const { userId, organisationId, knownBrowser } = made;
  const client = { ...testClient, knownBrowser };
  const opened = await openSession(app, { userId, organisationId, ...firstStep }, client).catch(() => null);
  if (opened === null) return 'refused';
  if (opened.kind === 'session')
    return (await readSession(app, opened.token))?.scopes.includes('ADMIN') ? 'in' : 'refused';
  // A session that waits for the step is none, and holds no scope.
  if (opened.waitingToken !== null) {
    expect(await readPresentedSession(app, opened.waitingToken)).toEqual({ principal: null, waits: true });
    expect(await readSession(app, opened.waitingToken)).toBeNull();
  }
  return 'step';
}

async function passwordLed({ email, knownBrowser }: Made, password = testPassword): Promise<Led> {
  const browser = newBrowser(test, { kept: knownBrowser === null ? {} : { known: knownBrowser } });
  const { status, body } = await browser.post('/api/login', { email, password });
  if (status === 200) return (await browser.get('/api/session')).body.scopes.includes('ADMIN') ? 'in' : 'refused';
  expect((await browser.get('/api/session')).status).toBe(401);
  return body.code === 'SECOND_FACTOR_REQUIRED' ? 'step' : 'refused';
}

async function identityLed(made: Made, { counts, app = test.app }: { counts: boolean; app?: TestApp['app'] }) {
  const subject = `subject of ${made.userId}`;
  await linkSubject(test, made.userId, subject);
  await test.app.db.update(identities).set({ countsAsFactor: counts }).where(eq(identities.subject, subject));
  return ledBy(made, { idpSubject: subject }, app);
}

/** Signs in with an identity of the account's address that nobody has linked. */
async function addressLed(made: Made): Promise<Led> {
  const identity = makeIdentity({ email: made.email });
  const matched = await test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
  if (matched.accountStatus === 'closed') return 'refused';
  const led = await ledBy(made, { idpSubject: identity.subject, linking: matched.linking ?? null });
  const linked = await test.app.db.$count(identities, eq(identities.userId, made.userId));
  // Nobody binds a subject without the step.
  expect(linked).toBe(led === 'in' ? 1 : 0);
  return led;
}

async function afterNewPassword(made: Made, token: string): Promise<Led> {
  const password = 'quite another pass phrase';
  const before = await test.app.db.$count(sessions, eq(sessions.userId, made.userId));
  const set = await callerFor(test, null)
    .accounts.setPassword({ token, password })
    .catch(() => null);
  expect(await test.app.db.$count(sessions, eq(sessions.userId, made.userId))).toBe(set === null ? before : 0);
  return passwordLed(made, password);
}

const ways: Record<string, (made: Made) => Promise<Led>> = {
  password: (made) => passwordLed(made),
  'an identity that counts': (made) => identityLed(made, { counts: true }),
  'an identity that counts, of a provider that is not trusted': (made) =>
    identityLed(made, { counts: true, app: untrusting }),
  'an identity linked by address': (made) => identityLed(made, { counts: false }),
  'an identity to be linked by address': addressLed,
  async 'password link'(made) {
    const link = await createPasswordLink(test.app, made.email).catch(() => null);
    if (link === null) return 'refused';
    return afterNewPassword(made, new URL(link).searchParams.get('token') ?? '');
  },
  async 'change of address by its form'(made) {
    const email = newEmail();
    // A closed account's mail does not leave.
    if ((await accountByEmail(test.app.db, made.email))?.accountStatus === 'closed') return passwordLed(made);
    await made.api.accounts.changeAddress({ email, password: testPassword });
    const token = tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
    const outcome = await verifyEmail(test.app, { token, browserToken: null }, testClient);
    const changeToken = 'changeToken' in outcome ? outcome.changeToken : '';
    await callerFor(test, null)
      .accounts.confirmChange({ token: changeToken, password: testPassword })
      .catch(() => null);
    return passwordLed({ ...made, email: (await accountByEmail(test.app.db, email)) === null ? made.email : email });
  },
};

/** Every state of the factors. `trusted` is what the browser is to the account. */
const factorStates: Record<string, (made: Made) => Promise<Made>> = {
  none: async (made) => made,
  'authenticator app': async (made) => {
    await addTotp(test, made.api);
    return made;
  },
  'app whose secret is lost': async (made) => {
    await addTotp(test, made.api);
    await test.app.db.update(totpSecrets).set({ encryptedBy: 'lost' }).where(eq(totpSecrets.userId, made.userId));
    await test.app.db.delete(recoveryCodes).where(eq(recoveryCodes.userId, made.userId));
    return made;
  },
  'authenticator app, in a trusted browser': async (made) => {
    await addTotp(test, made.api);
    return { ...made, knownBrowser: await trustedBrowser(made.userId) };
  },
};

async function trustedBrowser(userId: string): Promise<string> {
  const [token, now] = [`browser of ${userId}`, test.app.now()];
  const trustedUntil = new Date(now.getTime() + 86_400_000);
  await test.app.db
    .insert(knownBrowsers)
    .values({ tokenHash: hashToken(token), userId, signedInAt: now, firstSignedInAt: now, trustedUntil });
  return token;
}

const statuses: Record<string, (made: Made) => Promise<unknown>> = {
  active: async () => {},
  operator: ({ email }) => grantOperator(test.app, email),
  suspended: ({ email }) => suspendUser(test.app, email),
};

/** What each way leads to, by its rule. */
function expected(way: string, factor: string, status: string): Led {
  if (status === 'suspended') return 'refused';
  if (factor === 'none') return 'in';
  if (way === 'an identity that counts' && status !== 'operator') return 'in';
  // What ends trust, and the step that links an identity.
  const asksAnyway = ['password link', 'change of address by its form', 'an identity to be linked by address'];
  if (factor.includes('trusted') && status !== 'operator' && !asksAnyway.includes(way)) return 'in';
  return 'step';
}

describe.each(Object.keys(factorStates))('an account with %s', (factor) => {
  describe.each(Object.keys(statuses))('that is %s', (status) => {
    it.each(Object.keys(ways))('by %s', async (way) => {
      const owner = await makeOwner(test);
      const made = await factorStates[factor]?.({ ...owner, knownBrowser: null });
      if (made === undefined) throw new Error('no such state');
      await statuses[status]?.(made);
      expect(await ways[way]?.(made)).toBe(expected(way, factor, status));
    });
  });
});

describe('a session that waits for its second step', () => {
  async function waiting() {
    const made = { ...(await makeOwner(test)), knownBrowser: null };
    const { secret } = await addTotp(test, made.api);
    const subject = `waits ${made.userId}`;
    await linkSubject(test, made.userId, subject);
    const { userId, organisationId } = made;
    const opened = await openSession(test.app, { userId, organisationId, idpSubject: subject }, testClient);
    if (opened.kind !== 'step' || opened.waitingToken === null) throw new Error('no step');
    const kept = { step: opened.stepToken, session: opened.waitingToken };
    return {
      ...made,
      secret,
      subject,
      browser: newBrowser(test, { kept }),
      opened: { ...opened, token: opened.waitingToken },
    };
  }

  it('opens nothing but the step and sign-out, and becomes a session with a new id', async () => {
    const { browser, secret, opened, userId, subject } = await waiting();
    for (const path of ['/api/session', '/api/subscription', '/api/factors'])
      expect(await browser.get(path)).toMatchObject({ status: 401, body: { code: 'SECOND_FACTOR_REQUIRED' } });
    for (const path of ['/api/fresh', '/api/factors/totp', '/api/billing/checkout'])
      expect(await browser.post(path, { password: testPassword })).toMatchObject({
        status: 401,
        body: { code: 'SECOND_FACTOR_REQUIRED' },
      });
    expect(await browser.post('/api/signup/resend', { email: newEmail() })).toMatchObject({ status: 200 });

    expect(await browser.post('/api/login/second-step', { totp: await nextCode(test, secret) })).toMatchObject({
      status: 200,
    });
    expect(browser.cookie('session')).not.toBe(opened.token);
    expect(await readPresentedSession(test.app, opened.token)).toEqual({ principal: null, waits: false });
    expect(await browser.get('/api/session')).toMatchObject({ status: 200 });
    expect((await readSession(test.app, browser.cookie('session') ?? ''))?.freshByFactor).toBe(true);
    // From now on the identity counts.
    const isOwn = and(eq(identities.userId, userId), eq(identities.subject, subject));
    expect(await test.app.db.$count(identities, and(isOwn, eq(identities.countsAsFactor, true)))).toBe(1);
  });

  it('can be signed out', async () => {
    const { browser, opened } = await waiting();
    expect(await browser.post('/api/logout')).toMatchObject({ status: 200 });
    expect(browser.cookies()).toEqual([]);
    expect(await readPresentedSession(test.app, opened.token)).toEqual({ principal: null, waits: false });
  });

  it('ends after ten minutes, and with its attempt', async () => {
    const [late, guessed] = [await waiting(), await waiting()];
    for (let count = 0; count < 10; count++) await guessed.browser.post('/api/login/second-step', { totp: '000000' });
    expect((await readPresentedSession(test.app, guessed.opened.token)).waits).toBe(false);
    expect((await readPresentedSession(test.app, late.opened.token)).waits).toBe(true);
    test.advance(10 * 60_000);
    expect((await readPresentedSession(test.app, late.opened.token)).waits).toBe(false);
  });

  it('is not among the sessions of the user, of which at most five wait', async () => {
    const { userId, organisationId, subject, api } = await waiting();
    for (let count = 0; count < 6; count++)
      await openSession(test.app, { userId, organisationId, idpSubject: subject }, testClient);
    expect((await api.accounts.profile()).sessions).toHaveLength(1);
    expect(await test.app.db.$count(sessions, eq(sessions.userId, userId))).toBe(1 + 5);
  });

  it('gives no shared token', async () => {
    const { opened } = await waiting();
    const shared = await shareSession(test.app, opened.token);
    expect(await readSharedSession(test.app, shared)).toBeNull();
  });
});

it('an identity is linked once the step is done, and counts from then on', async () => {
  const made = { ...(await makeOwner(test)), knownBrowser: null };
  const { secret } = await addTotp(test, made.api);
  const identity = makeIdentity({ email: made.email });
  const { linking = null } = await test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
  const { userId, organisationId } = made;
  const opened = await openSession(
    test.app,
    { userId, organisationId, idpSubject: identity.subject, linking },
    testClient,
  );
  if (opened.kind !== 'step') throw new Error('no step');
  const begun = await finishSecondStep(
    test.app,
    { totp: await nextCode(test, secret) },
    { stepToken: opened.stepToken, challengeCookie: null },
    testClient,
  );
  expect(await readSession(test.app, begun.token)).not.toBeNull();
  expect(await identityCounts(identity.subject)).toBe(true);
  expect(await ledBy(made, { idpSubject: identity.subject })).toBe('in');
});

async function identityCounts(subject: string): Promise<boolean | undefined> {
  const [row] = await test.app.db.select().from(identities).where(eq(identities.subject, subject));
  return row?.countsAsFactor;
}

it('after the provider’s round trip a code completes the fresh sign-in, once', async () => {
  const owner = await makeOwner(test);
  const browser = newBrowser(test);
  await browser.post('/api/login', { email: owner.email, password: testPassword });
  const { secret } = (await browser.post('/api/factors/totp')).body;
  await browser.post('/api/factors/totp/confirm', { totp: await nextCode(test, secret) });
  await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, owner.userId));
  const identity = makeIdentity({ email: owner.email });
  await linkSubject(test, owner.userId, identity.subject);
  test.advance(16 * 60_000);

  const before = await readSession(test.app, browser.cookie('session') ?? '');
  const { token, waitsForCode } = await confirmIdentity(
    test.app,
    identity,
    { userId: owner.userId, sessionId: before?.sessionId ?? '' },
    testClient,
  );
  expect(waitsForCode).toBe(true);
  const back = newBrowser(test, { kept: { session: token } });
  expect((await back.post('/api/factors/totp')).body.code).toBe('FRESH_SIGN_IN_REQUIRED');
  expect((await back.post('/api/fresh', { totp: '000000' })).status).toBe(401);
  expect(await back.post('/api/fresh', { totp: await nextCode(test, secret) })).toMatchObject({ status: 200 });
  expect(back.cookie('session')).not.toBe(token);
  expect(await back.post('/api/factors/recovery-codes')).toMatchObject({ status: 200 });
  expect((await back.post('/api/fresh', { totp: await nextCode(test, secret) })).status).toBe(400);
});
