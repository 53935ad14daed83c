import { eq, getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditAction } from '../audit/actions.ts';
import { usableMethods } from '../auth/factors/has-factor.ts';
import { beginStep } from '../auth/factors/step-attempt.ts';
import { readKey } from '../auth/read-key.ts';
import { isKnownBrowser, isTrustedBrowser, tokenForBrowser, trustBrowser } from '../auth/sessions/known-browser.ts';
import { insertSession, readSession, readSharedSession, shareSession, startSession } from '../auth/sessions/session.ts';
import { matchUser } from '../auth/sign-in/match-user.ts';
import { readSecondStep } from '../auth/sign-in/second-step.ts';
import { sendVerification } from '../auth/verification/send-verification.ts';
import { verifyEmail } from '../auth/verification/verify-email.ts';
import { findUser } from '../operators/find-accounts.ts';
import { revokeOperator } from '../operators/grant-operator.ts';
import { eraseOnRequest } from '../operators/users/data-requests.ts';
import { resetSecondFactor } from '../operators/users/reset-second-factor.ts';
import { endSessions, suspendUser } from '../operators/users/suspend-user.ts';
import * as schema from '../platform/db/schema/all.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { hashToken } from '../platform/security/token.ts';
import { createPasswordLink, grantOperator, restoreUser } from '../testing/admin-commands.ts';
import { serviceUrl, startTestApp, type TestApp } from '../testing/app.ts';
import { newAuthenticator } from '../testing/authenticator.ts';
import { newBrowser } from '../testing/browser.ts';
import {
  callerFor,
  givePlan,
  makeIdentity,
  makeOwner,
  newEmail,
  testClient,
  testPassword,
  tokenIn,
  wantAddress,
} from '../testing/factories.ts';
import { addTotp } from '../testing/factors.ts';

/** What lasts, once it was made with the authority of a user. */
const powers = [
  'session',
  'shared cookie',
  'API key of the organisation',
  'API key of the deployment',
  'password link made for another user',
  'password link of the user',
  'lost-password link',
  'invitation',
  'identity',
  'known browser',
  'trusted browser',
  'authenticator app',
  'recovery code',
  'passkey that opens a session by itself',
  'sign-in that waits for its second step',
  'feed cursor',
  'pending change of address',
  'job that will mail a change of address',
] as const;
type Power = (typeof powers)[number];

/** What ends authority. */
const endings = [
  'new password by oneself',
  'new password by mail',
  'new password by an operator’s link',
  'change of address in a session',
  'change of address by its form',
  'lost role',
  'lost mark of an operator',
  'suspension',
  'removal',
  'leaving',
  'deletion by oneself',
  'erasure',
  'sign-out everywhere',
  'another factor',
  'removed authenticator app',
  'new recovery codes',
  'reset of the second factor',
  'mark of an operator',
] as const;
type Ending = (typeof endings)[number];

/** Ends, stays, or does so unless the page's choice (a ticked box, --keep-keys) says otherwise. */
type Cell = 'ends' | 'stays' | 'ends unless kept' | 'stays unless revoked';

/** Factors outlast what they are asked for beside: a password or address that somebody else may have set. */
const factorsStay = { 'authenticator app': 'stays', 'recovery code': 'stays' } as const;
const passkey = 'passkey that opens a session by itself';

const rule: Record<Ending, Record<Power, Cell>> = {
  'new password by oneself': {
    ...all('ends'),
    ...factorsStay,
    [passkey]: 'stays',
    'API key of the organisation': 'stays unless revoked',
    'API key of the deployment': 'stays unless revoked',
    identity: 'stays',
    'known browser': 'stays',
    'feed cursor': 'stays',
  },
  'new password by mail': {
    ...all('ends'),
    ...factorsStay,
    'API key of the organisation': 'ends unless kept',
    'API key of the deployment': 'ends unless kept',
    identity: 'ends unless kept',
    'known browser': 'stays',
    'feed cursor': 'stays',
  },
  'new password by an operator’s link': {
    ...all('ends'),
    ...factorsStay,
    'API key of the organisation': 'ends unless kept',
    'API key of the deployment': 'ends unless kept',
    identity: 'ends unless kept',
    'known browser': 'stays',
    'feed cursor': 'stays',
  },
  'change of address in a session': {
    ...all('ends'),
    ...factorsStay,
    [passkey]: 'stays',
    'trusted browser': 'stays',
    'sign-in that waits for its second step': 'stays',
    'API key of the organisation': 'stays unless revoked',
    'API key of the deployment': 'stays unless revoked',
    identity: 'stays',
    'known browser': 'stays',
    'feed cursor': 'stays',
  },
  'change of address by its form': {
    ...all('ends'),
    ...factorsStay,
    'API key of the organisation': 'stays unless revoked',
    'API key of the deployment': 'stays unless revoked',
    identity: 'ends unless kept',
    'known browser': 'stays',
    'feed cursor': 'stays',
  },
  'lost role': { ...all('stays'), 'API key of the organisation': 'ends unless kept', invitation: 'ends' },
  'lost mark of an operator': {
    ...all('stays'),
    'API key of the deployment': 'ends unless kept',
    'password link made for another user': 'ends',
  },
  // As it is after the account was restored: during the suspension the identity is refused as well.
  suspension: {
    ...all('ends'),
    ...factorsStay,
    [passkey]: 'stays',
    'API key of the organisation': 'ends unless kept',
    'API key of the deployment': 'ends unless kept',
    identity: 'stays',
    'known browser': 'stays',
    'feed cursor': 'stays',
  },
  removal: { ...all('stays'), 'API key of the organisation': 'ends unless kept', invitation: 'ends' },
  leaving: { ...all('stays'), 'API key of the organisation': 'stays unless revoked', invitation: 'ends' },
  'deletion by oneself': {
    ...all('ends'),
    'API key of the organisation': 'stays unless revoked',
    'API key of the deployment': 'stays unless revoked',
    'feed cursor': 'stays',
  },
  erasure: {
    ...all('ends'),
    'API key of the organisation': 'ends unless kept',
    'API key of the deployment': 'ends unless kept',
    // It is the organisation's, and opens nothing by itself.
    'feed cursor': 'stays',
  },
  'sign-out everywhere': {
    ...all('stays'),
    session: 'ends',
    'shared cookie': 'ends',
    'job that will mail a change of address': 'ends',
    'trusted browser': 'ends',
  },
  'another factor': { ...all('stays'), 'trusted browser': 'ends' },
  'removed authenticator app': { ...all('stays'), 'authenticator app': 'ends', 'trusted browser': 'ends' },
  'new recovery codes': { ...all('stays'), 'recovery code': 'ends' },
  'reset of the second factor': {
    ...all('stays'),
    session: 'ends',
    'shared cookie': 'ends',
    'job that will mail a change of address': 'ends',
    'trusted browser': 'ends',
    'authenticator app': 'ends',
    'recovery code': 'ends',
    [passkey]: 'ends',
    'sign-in that waits for its second step': 'ends',
  },
  // The mark of who has it already is given again.
  'mark of an operator': { ...all('stays'), 'trusted browser': 'ends' },
};

function all(cell: Cell): Record<Power, Cell> {
  return Object.fromEntries(powers.map((power) => [power, cell])) as Record<Power, Cell>;
}

/** Which kind of power each column is of that stores a secret of a user or a subject; null for what lasts minutes. */
const secrets: Record<string, Power | null> = {
  'api_keys.hash': 'API key of the organisation',
  'identities.subject': 'identity',
  'invitations.token_hash': 'invitation',
  'known_browsers.token_hash': 'known browser',
  'one_time_tokens.token_hash': 'password link of the user',
  'one_time_tokens.link_hash': 'lost-password link',
  'sessions.id_hash': 'session',
  'sessions.shared_hash': 'shared cookie',
  'sessions.idp_subject': 'session',
  'verification_links.token_hash': 'pending change of address',
  'return_urls.id_hash': null,
  'sign_in_attempts.id_hash': null,
  // Valid only in the browser that signed up, and only until the address is verified.
  'sign_ups.browser_hash': null,
  'sign_ups.password_hash': null,
  'users.password_hash': null,
  'recovery_codes.code_hash': 'recovery code',
  'totp_secrets.secret': 'authenticator app',
  'sessions.step_hash': 'sign-in that waits for its second step',
  'step_attempts.id_hash': 'sign-in that waits for its second step',
  // What the limits of the second step count.
  'step_attempts.idp_subject': null,
  'step_attempts.browser_hash': null,
  // Names who has had a trial, and lets nobody in.
  'trial_claims.hash': null,
  'used_challenges.challenge_hash': null,
  'wrong_codes.browser_hash': null,
};

/** Which ending each action of the audit is; null where nobody's authority ends. */
const endingOf: Record<AuditAction, Ending | null> = {
  'password-set': 'new password by oneself',
  'address-changed': 'change of address in a session',
  'role-changed': 'lost role',
  'operator-revoked': 'lost mark of an operator',
  'person-suspended': 'suspension',
  'member-removed': 'removal',
  'organisation-left': 'leaving',
  'account-deleted': 'erasure',
  'sessions-ended': 'sign-out everywhere',
  'second-factor-reset': 'reset of the second factor',
  'factor-added': 'another factor',
  'factor-removed': 'removed authenticator app',
  'recovery-codes-made': 'new recovery codes',
  'operator-granted': 'mark of an operator',
  'session-ended': 'sign-out everywhere',
  ...none(
    'passkey-refused',
    'recovery-code-used',
    'second-factor-failed',
    'second-factor-required',
    'second-factor-not-required',
    'signed-up',
    'signed-up-again',
    'address-verified',
    'signed-in',
    'signed-in-again',
    'sign-in-failed',
    'password-check-failed',
    'signed-out',
    'data-exported',
    'user-imported',
    'users-exported',
    'organisation-imported',
    'backup-restored',
    'identity-linked',
    'identity-unlinked',
    'onboarded',
    'organisation-approved',
    'organisation-declined',
    'decision-undone',
    'organisation-suspended',
    'organisation-restored',
    'organisation-created',
    'organisation-renamed',
    'billing-contact-changed',
    'ownership-transferred',
    'organisation-deleted',
    'invitation-made',
    'invitation-withdrawn',
    'member-joined',
    'member-added',
    'person-created',
    'person-restored',
    'password-link-made',
    'api-key-created',
    'api-key-revoked',
    'usage-corrected',
    'customer-linked',
    'override-set',
    'override-ended',
    'plan-checkout',
    'plan-currency',
    'plan-portal',
    'plan-cancelled',
    'plan-resumed',
    'subscription-started',
    'subscription-changed',
    'subscription-ended',
    'payment-failed',
    'subscription-synced',
    'billing-reconciled',
    'customer-started-anew',
  ),
};

function none<Action extends AuditAction>(...actions: Action[]): Record<Action, null> {
  return Object.fromEntries(actions.map((action) => [action, null])) as Record<Action, null>;
}

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const commandLine = { actorId: null };
const next = 'another long pass phrase';
const anonymous = () => callerFor(test, null);
const open = (token: string, sessionToken: string | null = null) =>
  verifyEmail(test.app, { token, browserToken: null, sessionToken }, testClient);

/** Resolves to whether a request succeeds. */
function succeeds(request: Promise<unknown>): Promise<boolean> {
  return request.then(
    (answer) => answer !== null && answer !== false,
    () => false,
  );
}

/** An administrator of an organisation with another owner, who is an operator too and has made every power. */
async function makeWorld() {
  const chief = await makeOwner(test);
  const { organisationId } = chief;
  await givePlan(test, organisationId, 'gold');
  const { userId, email } = await makeOwner(test, { operator: true });
  const createdAt = test.app.now();
  await test.app.db.insert(memberships).values({ userId, organisationId, role: 'admin', createdAt });

  const browser = await tokenForBrowser(test.app, null);
  const start = { userId, organisationId, fresh: true, client: testClient };
  let own = await startSession(test.app, start);
  const renew = async (token: string) => {
    own = token;
  };
  let challenge: string | null = null;
  const passkeys = {
    challengeCookie: () => challenge,
    rememberChallenge: (cookie: string) => {
      challenge = cookie;
    },
  };
  const apiOf = async (token: string) =>
    callerFor(test, await readSession(test.app, token), { session: { renew, ...passkeys } });
  const api = await apiOf(own);

  const identity = makeIdentity({ email });
  await test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
  const { recoveryCodes } = await addTotp(test, api);
  const authenticator = newAuthenticator(serviceUrl);
  const created = authenticator.create(await api.factors.passkeyOptions());
  await api.factors.addPasskey({ name: 'Laptop', passkey: created });
  // With the second step done, as all further sessions of the user begin.
  const session = await test.app.db.transaction(async (tx) => {
    const token = await insertSession(test.app, tx, { ...start, freshByFactor: true, browserHash: browser.hash });
    const trusted = await trustBrowser(test.app, tx, { userId, browserHash: browser.hash });
    return { token, trusted };
  });
  const stepToken = await test.app.db.transaction(async (tx) => {
    const begun = { userId, organisationId, idpSubject: null, linking: null, browserHash: '' };
    return (await beginStep(test.app, tx, begun)).token;
  });
  const shared = await shareSession(test.app, session.token);

  const key = (await api.keys.create({ organisation_id: organisationId, name: 'Worker' })).key;
  const deploymentKey = (await api.operators.createKey({ name: 'Console' })).key;
  const chiefsKey = (await chief.api.keys.create({ organisation_id: organisationId, name: 'Reader' })).key;
  const other = await makeOwner(test);
  const linkForOther = tokenOf((await api.operators.passwordLink({ user_id: other.userId })).url);
  const linkForUser = tokenOf(await createPasswordLink(test.app, email));
  const invitation = tokenOf((await api.members.invite({ organisation_id: organisationId, role: 'member' })).url);
  const lost = await lostPasswordLink(email);
  const wanted = newEmail();
  await api.accounts.changeAddress({ email: wanted });
  const change = tokenIn((await test.sandbox.mailbox.waitFor(wanted)).text);
  const sessionId = (await readSession(test.app, session.token))?.sessionId ?? '';
  const job = { email: newEmail(), userId, sessionId };
  await wantAddress(test, job);
  const cursor = (await callerFor(test, await readKey(test.app, chiefsKey)).changes.since({})).next;

  const works: Record<Power, () => Promise<boolean>> = {
    session: async () => succeeds(callerFor(test, await readSession(test.app, session.token)).accounts.profile()),
    'shared cookie': async () => succeeds(callerFor(test, await readSharedSession(test.app, shared)).sessions.verify()),
    'API key of the organisation': async () =>
      succeeds(callerFor(test, await readKey(test.app, key)).members.list({ organisation: organisationId })),
    'API key of the deployment': async () =>
      succeeds(callerFor(test, await readKey(test.app, deploymentKey)).organisations.list({})),
    'password link made for another user': () => succeeds(anonymous().accounts.passwordToken({ token: linkForOther })),
    'password link of the user': () => succeeds(anonymous().accounts.passwordToken({ token: linkForUser })),
    'lost-password link': async () => (await open(lost)).kind === 'password-offered',
    invitation: () => succeeds(anonymous().members.invitation({ token: invitation })),
    identity: () =>
      succeeds(
        test.app.db
          .transaction((tx) => matchUser(test.app, tx, identity, testClient))
          .then(({ user, accountStatus }) => user.id === userId && accountStatus !== 'closed'),
      ),
    'known browser': async () => {
      const now = await findUser(test.app.db, userId).catch(() => null);
      return now !== null && isKnownBrowser(test.app, test.app.db, { email: now.email, token: session.trusted });
    },
    'trusted browser': () =>
      test.app.db.transaction((tx) => isTrustedBrowser(test.app, tx, { userId, token: session.trusted })),
    'authenticator app': async () => (await usableMethods(test.app, test.app.db, userId)).includes('totp'),
    'recovery code': async () => {
      const isTheirs = eq(schema.recoveryCodes.codeHash, hashToken(recoveryCodes[0] ?? ''));
      return (await test.app.db.$count(schema.recoveryCodes, isTheirs)) > 0;
    },
    'passkey that opens a session by itself': async () => {
      const visitor = newBrowser(test);
      const { body: options } = await visitor.post('/api/login/passkey/options');
      const answer = { passkey: authenticator.get(options) };
      return (await visitor.post('/api/login/passkey', answer)).status === 200;
    },
    'sign-in that waits for its second step': async () => (await readSecondStep(test.app, stepToken)) !== null,
    'feed cursor': async () =>
      succeeds(callerFor(test, await readKey(test.app, chiefsKey)).changes.since({ after: cursor })),
    'pending change of address': async () => (await open(change)).kind === 'change-offered',
    'job that will mail a change of address': async () => {
      await sendVerification(test.app, job);
      return test.sandbox.mailbox.messages(job.email).length > 0;
    },
  };
  return { chief, organisationId, userId, email, api, own: () => own, works };
}

type World = Awaited<ReturnType<typeof makeWorld>>;

function tokenOf(link: string): string {
  return new URL(link).searchParams.get('token') ?? '';
}

async function lostPasswordLink(email: string): Promise<string> {
  const [before] = test.sandbox.mailbox.messages(email);
  test.advance(61_000);
  await anonymous().accounts.resend({ email });
  return tokenIn((await test.sandbox.mailbox.waitFor(email, before)).text);
}

async function newAddressOf({ api }: World, revokesKeys = false) {
  const email = newEmail();
  await api.accounts.changeAddress({ email, revoke_keys: revokesKeys });
  return tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
}

/** Carries an ending out. `other` makes the choice that the page or command offers. */
const act: Record<Ending, (world: World, other: boolean) => Promise<unknown>> = {
  'new password by oneself': ({ api }, other) =>
    api.accounts.changePassword({ current_password: testPassword, password: next, revoke_keys: other }),
  'new password by mail': async ({ email }, other) => {
    const outcome = await open(await lostPasswordLink(email));
    const token = ('offers' in outcome && outcome.offers.password?.token) || '';
    return anonymous().accounts.setPassword({ token, password: next, keep_keys: other, keep_identity: other });
  },
  'new password by an operator’s link': async ({ email }, other) => {
    const token = tokenOf(await createPasswordLink(test.app, email));
    return anonymous().accounts.setPassword({ token, password: next, keep_keys: other, keep_identity: other });
  },
  'change of address in a session': async (world, other) => open(await newAddressOf(world, other), world.own()),
  'change of address by its form': async (world, other) => {
    const outcome = await open(await newAddressOf(world));
    const token = 'changeToken' in outcome ? outcome.changeToken : '';
    const choice = { revoke_keys: other, keep_identity: other };
    return anonymous().accounts.confirmChange({ token, password: testPassword, ...choice });
  },
  'lost role': ({ chief, organisationId, userId }, other) =>
    chief.api.members.changeRole({
      organisation_id: organisationId,
      user_id: userId,
      role: 'member',
      keep_keys: other,
    }),
  'lost mark of an operator': ({ userId }, other) => revokeOperator(test.app, { userId, keepKeys: other }, commandLine),
  suspension: async ({ userId, email, works }, other) => {
    await suspendUser(test.app, { userId, keepKeys: other }, commandLine);
    expect(await works.identity()).toBe(false);
    await restoreUser(test.app, email);
  },
  removal: ({ chief, organisationId, userId }, other) =>
    chief.api.members.remove({ organisation_id: organisationId, user_id: userId, keep_keys: other }),
  leaving: ({ api, organisationId }, other) =>
    api.members.leave({ organisation_id: organisationId, revoke_keys: other }),
  'deletion by oneself': async ({ api }, other) => {
    const { ends } = await api.leaving.deletion();
    const ids = ends.map(({ organisation }) => organisation.id);
    return api.leaving.deleteAccount({ password: testPassword, organisation_ids: ids, revoke_keys: other });
  },
  erasure: ({ userId }, other) => eraseOnRequest(test.app, { userId, keepKeys: other }, commandLine),
  'sign-out everywhere': ({ userId }) => endSessions(test.app, { userId }, commandLine),
  'another factor': ({ api }) => addTotp(test, api),
  'removed authenticator app': ({ api }) => api.factors.remove({ id: 'totp' }),
  'new recovery codes': ({ api }) => api.factors.recoveryCodes(),
  'reset of the second factor': ({ userId }) => resetSecondFactor(test.app, { userId }, commandLine),
  'mark of an operator': ({ email }) => grantOperator(test.app, email),
};

const lives = (cell: Cell, other: boolean) =>
  cell === 'stays' || (cell === 'ends unless kept' && other) || (cell === 'stays unless revoked' && !other);

it('every power works before', async () => {
  const { works } = await makeWorld();
  for (const power of powers) expect([power, await works[power]()]).toEqual([power, true]);
});

describe.each(endings)('%s', (ending) => {
  const offersChoice = Object.values(rule[ending]).some((cell) => cell.includes('unless'));
  for (const other of offersChoice ? [false, true] : [false]) {
    describe(other ? 'with the other choice' : 'by default', () => {
      const after = new Map<Power, boolean>();
      beforeAll(async () => {
        const world = await makeWorld();
        await act[ending](world, other);
        for (const power of powers) after.set(power, await world.works[power]());
      });

      it.each(powers.map((power) => [power, rule[ending][power]] as const))('%s: %s', (power, cell) => {
        expect(after.get(power)).toBe(lives(cell, other));
      });
    });
  }
});

it('a column for another secret fails here, until it is a power with its cases', () => {
  const tables = Object.values(schema).filter((each) => is(each, PgTable));
  const columns = tables.flatMap((table) =>
    Object.values(getTableColumns(table)).map(({ name }) => `${getTableName(table)}.${name}`),
  );
  const secret = columns.filter((name) => /(^|[._])(hash|token|subject|secret)$|_hash$/.test(name));
  expect(secret.sort()).toEqual(Object.keys(secrets).sort());
});

it('every ending of the audit is one of these', () => {
  const named = new Set(Object.values(endingOf).filter((ending) => ending !== null));
  for (const ending of named) expect(endings).toContain(ending);
});
