import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identities, knownBrowsers, users } from '../../platform/db/schema/accounts.ts';
import { recoveryCodes, totpSecrets } from '../../platform/db/schema/factors.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { hashToken } from '../../platform/security/token.ts';
import { createPasswordLink, grantOperator, suspendUser } from '../../testing/admin-commands.ts';
import { serviceUrl, startTestApp, type TestApp } from '../../testing/app.ts';
import { newAuthenticator } from '../../testing/authenticator.ts';
import { newBrowser } from '../../testing/browser.ts';
import {
  callerFor,
  linkSubject,
  makeIdentity,
  makeInvitation,
  makeOwner,
  newEmail,
  testClient,
  testPassword,
  tokenIn,
} from '../../testing/factories.ts';
import { addTotp, nextCode } from '../../testing/factors.ts';
import type { UserPrincipal } from '../principal.ts';
import { readKey } from '../read-key.ts';
import { accountByEmail } from '../sessions/account.ts';
import { readPresentedSession, readSession, readSharedSession, shareSession } from '../sessions/session.ts';
import { confirmIdentity } from '../sign-in/connect-identity.ts';
import { matchUser } from '../sign-in/match-user.ts';
import { openSession } from '../sign-in/open-session.ts';
import { finishSecondStep } from '../sign-in/second-step.ts';
import { verifyEmail } from '../verification/verify-email.ts';
import { requireReview } from './review.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ environment: { TOKEN_TTL_SECONDS: '300' } });
  test.stopClock();
});
afterAll(() => test.close());

/** A deployment with a setting of its own, on the same database. */
function withConfig(changed: Partial<TestApp['app']['config']>): TestApp {
  return { ...test, app: { ...test.app, config: { ...test.app.config, ...changed } } };
}

type Made = Awaited<ReturnType<typeof makeOwner>> & {
  key: string;
  knownBrowser: string | null;
  authenticator?: ReturnType<typeof newAuthenticator>;
};

/** What a way in leads to: a session that opens, the second step, the page that sets a factor up, or a refusal. */
type Led = 'in' | 'step' | 'setup' | 'refused';

function ledTo(principal: UserPrincipal | null): Led {
  if (principal?.factorMissing) expect(principal.scopes).toEqual([]);
  if (principal?.factorMissing) return 'setup';
  return principal?.scopes.includes('ADMIN') ? 'in' : 'refused';
}

async function ledBy({ app }: TestApp, made: Made, firstStep: object): Promise<Led> {
  const { userId, organisationId, knownBrowser } = made;
  const client = { ...testClient, knownBrowser };
  const opened = await openSession(app, { userId, organisationId, ...firstStep }, client).catch(() => null);
  if (opened === null) return 'refused';
  if (opened.kind === 'session') return ledTo(await readSession(app, opened.token));
  // A session that waits for the step is none, and holds no scope.
  if (opened.waitingToken !== null) {
    expect(await readPresentedSession(app, opened.waitingToken)).toEqual({ principal: null, waits: true });
    expect(await readSession(app, opened.waitingToken)).toBeNull();
  }
  return 'step';
}

/** Signs in with the password in a browser. */
async function withPassword(at: TestApp, { email, knownBrowser }: Made, password = testPassword) {
  const browser = newBrowser(at, { kept: knownBrowser === null ? {} : { known: knownBrowser } });
  const { status, body } = await browser.post('/api/login', { email, password });
  const session = await browser.get('/api/session');
  let led: Led = body.code === 'SECOND_FACTOR_REQUIRED' ? 'step' : 'refused';
  if (status === 200) led = session.body.code === 'SECOND_FACTOR_SETUP' ? 'setup' : 'in';
  expect(session.status).toBe({ in: 200, setup: 403, step: 401, refused: 401 }[led]);
  return { led, browser };
}

async function passwordLed(at: TestApp, made: Made, password = testPassword): Promise<Led> {
  return (await withPassword(at, made, password)).led;
}

async function identityLed(at: TestApp, made: Made, counts: boolean) {
  const subject = `subject of ${made.userId}`;
  const isTheirs = eq(identities.subject, subject);
  await linkSubject(test, made.userId, subject);
  await test.app.db.update(identities).set({ countsAsFactor: counts }).where(isTheirs);
  try {
    return await ledBy(at, made, { idpSubject: subject });
  } finally {
    // The other ways share the account, and it has one identity at most.
    await test.app.db.delete(identities).where(isTheirs);
  }
}

/** Signs in with an identity of the account's address that nobody has linked. */
async function addressLed(at: TestApp, made: Made): Promise<Led> {
  const identity = makeIdentity({ email: made.email });
  const matched = await test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
  if (matched.accountStatus === 'closed') return 'refused';
  const led = await ledBy(at, made, { idpSubject: identity.subject, linking: matched.linking ?? null });
  const linked = await test.app.db.$count(identities, eq(identities.userId, made.userId));
  // Nobody binds a subject without the step.
  expect(linked).toBe(led === 'step' ? 0 : 1);
  return led;
}

async function afterNewPassword(at: TestApp, made: Made, token: string): Promise<Led> {
  const password = 'quite another pass phrase';
  const before = await test.app.db.$count(sessions, eq(sessions.userId, made.userId));
  const set = await callerFor(test, null)
    .accounts.setPassword({ token, password })
    .catch(() => null);
  expect(await test.app.db.$count(sessions, eq(sessions.userId, made.userId))).toBe(set === null ? before : 0);
  return passwordLed(at, made, password);
}

async function isClosed({ email }: Made): Promise<boolean> {
  return (await accountByEmail(test.app.db, email))?.accountStatus === 'closed';
}

const ways: Record<string, (at: TestApp, made: Made) => Promise<Led>> = {
  password: (at, made) => passwordLed(at, made),
  'an identity that counts': (at, made) => identityLed(at, made, true),
  'an identity that counts, of a provider that is not trusted': (at, made) =>
    identityLed(
      { ...at, app: { ...at.app, config: { ...at.app.config, idpTrustedForSecondFactor: false } } },
      made,
      true,
    ),
  'an identity linked by address': (at, made) => identityLed(at, made, false),
  'an identity to be linked by address': addressLed,
  async 'password link'(at, made) {
    const link = await createPasswordLink(test.app, made.email).catch(() => null);
    if (link === null) return 'refused';
    return afterNewPassword(at, made, new URL(link).searchParams.get('token') ?? '');
  },
  async 'verification link'(at, made) {
    // A closed account's mail does not leave.
    if (await isClosed(made)) return passwordLed(at, made);
    await callerFor(test, null).accounts.resend({ email: made.email });
    const token = tokenIn((await test.sandbox.mailbox.waitFor(made.email)).text);
    const outcome = await verifyEmail(test.app, { token, browserToken: null }, testClient);
    return afterNewPassword(at, made, ('offers' in outcome && outcome.offers.password?.token) || '');
  },
  async 'change of address by its form'(at, made) {
    const email = newEmail();
    if (await isClosed(made)) return passwordLed(at, made);
    await made.api.accounts.changeAddress({ email, password: testPassword });
    const token = tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
    const outcome = await verifyEmail(test.app, { token, browserToken: null }, testClient);
    const changeToken = 'changeToken' in outcome ? outcome.changeToken : '';
    await callerFor(test, null)
      .accounts.confirmChange({ token: changeToken, password: testPassword })
      .catch(() => null);
    const changed = (await accountByEmail(test.app.db, email)) !== null;
    return passwordLed(at, { ...made, email: changed ? email : made.email });
  },
  async invitation(at, made) {
    const token = await makeInvitation(await makeOwner(test, { name: 'Host' }));
    const { led, browser } = await withPassword(at, made);
    const joined = await browser.trpc('members.join', { token });
    // It opens nothing by itself, and nobody joins before the step or the set-up.
    expect(joined.status).toBe(led === 'in' ? 200 : 400);
    return led;
  },
  async passkey(at, { authenticator }) {
    if (authenticator === undefined) return 'refused';
    const browser = newBrowser(at);
    const { body: options } = await browser.post('/api/login/passkey/options');
    await browser.post('/api/login/passkey', { passkey: authenticator.get(options) });
    return ledTo(await readSession(at.app, browser.cookie('session') ?? ''));
  },
  async token(at, made) {
    const { led, browser } = await withPassword(at, made);
    const { status, body } = await browser.post('/api/token');
    expect([status, body.code]).toEqual(
      {
        in: [200, undefined],
        setup: [403, 'SECOND_FACTOR_SETUP'],
        step: [401, 'UNAUTHENTICATED'],
        refused: [401, 'UNAUTHENTICATED'],
      }[led],
    );
    return led;
  },
  async 'shared cookie'({ app }, made) {
    const { userId, organisationId, knownBrowser } = made;
    const client = { ...testClient, knownBrowser };
    const opened = await openSession(app, { userId, organisationId }, client).catch(() => null);
    if (opened === null) return 'refused';
    return opened.kind === 'step' ? 'step' : ledTo(await readSharedSession(app, await shareSession(app, opened.token)));
  },
  /** Made by the user before; it opens no session, and asks for no factor. */
  async key({ app }, { key, organisationId }) {
    const principal = await readKey(app, key);
    if (principal === null) return 'refused';
    principal.require('READ');
    expect(principal).toMatchObject({ kind: 'key', organisationId });
    return 'in';
  },
};

/** Every state of the factors. `trusted` is what the browser is to the account. */
const factorStates: Record<string, (made: Made) => Promise<Made>> = {
  none: async (made) => made,
  'authenticator app': async (made) => {
    await addTotp(test, made.api);
    return made;
  },
  passkey: async (made) => {
    const browser = (await withPassword(test, made)).browser;
    const authenticator = newAuthenticator(serviceUrl);
    const passkey = authenticator.create((await browser.post('/api/factors/passkey/options')).body);
    expect(await browser.post('/api/factors/passkey', { name: 'Laptop', passkey })).toMatchObject({ status: 200 });
    // The first factor ended the user's other sessions.
    const principal = await readSession(test.app, browser.cookie('session') ?? '');
    return { ...made, api: callerFor(test, principal), authenticator };
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

/** Who must have a factor, and the deployment where it is so. */
const musts: Record<string, (made: Made) => Promise<TestApp>> = {
  nobody: async () => test,
  operators: async () => withConfig({ secondFactor: 'operators' }),
  everybody: async () => withConfig({ secondFactor: 'everybody' }),
  'members of the organisation': async ({ organisationId }) => {
    const secondFactorFrom = test.app.now();
    await test.app.db.update(organisations).set({ secondFactorFrom }).where(eq(organisations.id, organisationId));
    return test;
  },
};

/** The ways that change what the account can do. Unless they are refused, each gets an account of its own. */
const changingWays = [
  'an identity to be linked by address',
  'password link',
  'verification link',
  'change of address by its form',
  'invitation',
];

/** The accounts that all other ways share, by their state. */
const shared = new Map<string, Promise<Made>>();

function accountFor(way: string, state: { factor: string; status: string; must: string }): Promise<Made> {
  const { factor, status, must } = state;
  if (changingWays.includes(way) && status !== 'suspended') return makeAccount(factor, status);
  // Most deployments differ in their settings alone.
  const key = JSON.stringify([factor, status, must.startsWith('members')]);
  const made = shared.get(key) ?? makeAccount(factor, status);
  shared.set(key, made);
  return made;
}

async function makeAccount(factor: string, status: string): Promise<Made> {
  const owner = await makeOwner(test);
  const { key } = await owner.api.keys.create({ organisation_id: owner.organisationId, name: 'Worker' });
  const made = await factorStates[factor]?.({ ...owner, key, knownBrowser: null });
  if (made === undefined) throw new Error('no such state');
  await statuses[status]?.(made);
  return made;
}

/** What each way leads to, by its rule. */
function expected(way: string, factor: string, status: string, must: string): Led {
  if (status === 'suspended') return 'refused';
  if (way === 'key') return 'in';
  if (way === 'passkey') return factor === 'passkey' ? 'in' : 'refused';
  // An identity that counts is no factor of an operator, and in no organisation that requires one.
  const counts = way === 'an identity that counts' && status !== 'operator' && !must.startsWith('members');
  if (factor === 'none') {
    const isRequired = must === 'operators' ? status === 'operator' : must !== 'nobody' && !counts;
    return isRequired ? 'setup' : 'in';
  }
  if (counts) return 'in';
  // What ends trust, and the step that links an identity.
  const asksAnyway = [
    'password link',
    'verification link',
    'change of address by its form',
    'an identity to be linked by address',
  ];
  if (factor.includes('trusted') && status !== 'operator' && !asksAnyway.includes(way)) return 'in';
  return 'step';
}

describe.each(Object.keys(musts))('where %s must have a factor', (must) => {
  describe.each(Object.keys(factorStates))('an account with %s', (factor) => {
    describe.each(Object.keys(statuses))('that is %s', (status) => {
      it.each(Object.keys(ways))('by %s', async (way) => {
        const made = await accountFor(way, { factor, status, must });
        const at = await musts[must]?.(made);
        expect(at && (await ways[way]?.(at, made))).toBe(expected(way, factor, status, must));
      });
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

  it('becomes a session that answers a review once the password is given too', async () => {
    const { browser, secret, userId } = await waiting();
    await test.app.db.transaction((tx) => requireReview(test.app, tx, userId));
    const step = { totp: await nextCode(test, secret) };
    expect(await browser.post('/api/login/second-step', step)).toMatchObject({ status: 200 });

    const answer = () => browser.trpc('factors.answerReview', { keep: ['totp', 'identity'] });
    expect((await browser.trpc('factors.review', undefined)).body).toMatchObject({ pending: true, asks_first: true });
    expect((await answer()).body.error.data.appCode).toBe('FRESH_SIGN_IN_REQUIRED');
    const proof = { password: testPassword, totp: await nextCode(test, secret) };
    expect(await browser.post('/api/fresh', proof)).toMatchObject({ status: 200 });
    expect((await browser.trpc('factors.review', undefined)).body).toMatchObject({ asks_first: false });
    expect(await answer()).toMatchObject({ status: 200 });
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
  const made = { ...(await makeOwner(test)), key: '', knownBrowser: null };
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
  expect(await ledBy(test, made, { idpSubject: identity.subject })).toBe('in');
});

it('an identity that waits for a factor which is removed meanwhile is not linked past the checks', async () => {
  const made = await makeOwner(test);
  await addTotp(test, made.api);
  const { email, userId, organisationId } = made;
  const identity = makeIdentity({ email });
  const matched = await test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
  await made.api.factors.remove({ id: 'totp' });
  const firstStep = { userId, organisationId, idpSubject: identity.subject, linking: matched.linking ?? null };
  await expect(openSession(test.app, firstStep, testClient)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await identityCounts(identity.subject)).toBeUndefined();

  const again = await test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
  expect(again.linking).toBeUndefined();
  expect(await identityCounts(identity.subject)).toBe(false);
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
