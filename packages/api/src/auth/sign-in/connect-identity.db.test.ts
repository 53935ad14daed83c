import { openBrowser } from '@gatehouse/sandbox/testing';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  linkSubject,
  makeOwner,
  newEmail,
  signInAs,
  testClient,
  testPassword,
} from '../../testing/factories.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { finishSignIn as finish, startSignIn } from './attempt.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Owner = Awaited<ReturnType<typeof makeOwner>>;

/** Chooses an account at the provider and returns what the callback gets. */
async function choose({ url, cookie }: { url: string; cookie: string }, sub: string) {
  const browser = openBrowser();
  const chooser = await browser.open(url);
  const back = new URL((await browser.open(chooser.at, { sub })).at);
  const query = (name: string) => back.searchParams.get(name);
  return { state: query('state'), code: query('code'), error: query('error'), attemptCookie: cookie };
}

/** Finishes an attempt to sign in or to connect. */
async function finishSignIn(...args: Parameters<typeof finish>) {
  const finished = await finish(...args);
  if (!('userId' in finished)) throw new Error('The attempt was one to make a session fresh.');
  return finished;
}

function atProvider(email: string): string {
  return test.sandbox.idp.people.add({ email, email_verified: true }).sub;
}

async function signIn(sub: string) {
  const started = await startSignIn(test.app, { attemptCookie: null }, testClient);
  if (started === null) throw new Error('the feature is off');
  return finishSignIn(test.app, await choose(started, sub), testClient);
}

function sessionOf({ userId, organisationId }: Owner): Promise<string> {
  return startSession(test.app, { userId, organisationId, client: testClient });
}

async function startConnecting({ principal }: Pick<Owner, 'principal'>) {
  const attempts: string[] = [];
  const session = { rememberAttempt: (attempt: string) => void attempts.push(attempt) };
  const { url } = await callerFor(test, principal, { session }).accounts.connectIdentity({
    password: testPassword,
  });
  return { url, cookie: attempts[0] ?? '' };
}

async function connect(owner: Owner, sub: string, holder: Owner | null = owner) {
  const sessionToken = holder && (await sessionOf(holder));
  return finishSignIn(test.app, { ...(await choose(await startConnecting(owner), sub)), sessionToken }, testClient);
}

/** An owner who signed in through the provider, and then unlinked it. */
async function unlinked() {
  const owner = await makeOwner(test);
  const sub = atProvider(owner.email);
  await signIn(sub);
  await owner.api.accounts.unlinkIdentity({ password: testPassword });
  return { ...owner, sub };
}

it('refuses an unlinked subject, and another one of the same address, until the user connects one', async () => {
  const owner = await unlinked();
  const other = atProvider(owner.email);
  await expect(signIn(owner.sub)).rejects.toThrow('unlinked');
  await expect(signIn(other)).rejects.toThrow('unlinked');

  expect(await connect(owner, other)).toMatchObject({ userId: owner.userId, idpSubject: other });
  expect(await signIn(other)).toMatchObject({ userId: owner.userId });
  await expect(signIn(owner.sub)).rejects.toThrow('unlinked');
});

it('connects an unlinked subject again', async () => {
  const owner = await unlinked();
  expect(await connect(owner, owner.sub)).toMatchObject({ userId: owner.userId, idpSubject: owner.sub });
  expect(await signIn(owner.sub)).toMatchObject({ userId: owner.userId });
  expect((await owner.api.accounts.profile()).user.idp_linked).toBe(true);
});

it('connects a subject whose address is not the account’s', async () => {
  const owner = await makeOwner(test);
  const sub = atProvider(newEmail());
  expect(await connect(owner, sub)).toMatchObject({ userId: owner.userId });
  expect(await signIn(sub)).toMatchObject({ userId: owner.userId });
});

it('connects no subject of another user, linked or unlinked', async () => {
  const owner = await makeOwner(test);
  const theirs = atProvider(newEmail());
  const { userId } = await signIn(theirs);
  await expect(connect(owner, theirs)).rejects.toThrow('another account');
  const { sub } = await unlinked();
  await expect(connect(owner, sub)).rejects.toThrow('another account');
  expect(await signIn(theirs)).toMatchObject({ userId });
});

it('an attempt to connect does not start for an account that was deleted meanwhile', async () => {
  const owner = await makeOwner(test);
  const other = await signInAs(test, owner.email);
  await owner.api.leaving.deleteAccount({ password: testPassword });
  await expect(other.api.accounts.connectIdentity({})).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });
});

it('an attempt to connect finishes only in the session of the user who started it', async () => {
  const owner = await makeOwner(test);
  const other = await makeOwner(test);
  for (const holder of [null, other]) {
    await expect(connect(owner, atProvider(newEmail()), holder)).rejects.toThrow('another user');
  }
});

it('an attempt to connect fails in a session that a new password ended while the provider answered', async () => {
  const owner = await makeOwner(test);
  const thief = await sessionOf(owner);
  const sub = atProvider(newEmail());
  const answer = { ...(await choose(await startConnecting(owner), sub)), sessionToken: thief };
  const { idp } = test.app;
  if (idp === null) throw new Error('the feature is off');
  const exchangeCode: typeof idp.exchangeCode = async (grant) => {
    const token = await idp.exchangeCode(grant);
    await owner.api.accounts.changePassword({ current_password: testPassword, password: 'quite another pass phrase' });
    return token;
  };

  const meanwhile = { ...test.app, idp: { ...idp, exchangeCode } };
  await expect(finishSignIn(meanwhile, answer, testClient)).rejects.toThrow('session');
  expect(await test.app.db.$count(identities, eq(identities.userId, owner.userId))).toBe(0);
});

it('an attempt to connect requires the password, or a fresh session', async () => {
  const late = await startTestApp();
  const owner = await makeOwner(late);
  await expect(owner.api.accounts.connectIdentity({ password: 'not the pass phrase' })).rejects.toMatchObject({
    cause: { code: 'UNAUTHENTICATED', fields: { password: expect.any(String) } },
  });
  expect((await owner.api.accounts.connectIdentity({})).url).toContain('/idp/auth?');
  late.advance(16 * 60_000);
  const { url } = await owner.api.accounts.connectIdentity({ password: testPassword });
  expect(url).toContain('/idp/auth?');
  await late.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, owner.userId));
  await expect(owner.api.accounts.connectIdentity({})).rejects.toMatchObject({
    cause: { code: 'FRESH_SIGN_IN_REQUIRED' },
  });
  await late.close();
});

it('an attempt to connect starts only if no subject is linked', async () => {
  const linked = await makeOwner(test);
  await linkSubject(test, linked.userId, 'linked-already');
  await expect(startConnecting(linked)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
});

it('links one of two subjects that finish at once', async () => {
  const owner = await makeOwner(test);
  const subjects = [atProvider(newEmail()), atProvider(newEmail())];
  const answers = [];
  for (const sub of subjects) answers.push(await choose(await startConnecting(owner), sub));
  const sessionToken = await sessionOf(owner);
  const ended = await Promise.allSettled(
    answers.map((answer) => finishSignIn(test.app, { ...answer, sessionToken }, testClient)),
  );
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await test.app.db.$count(identities, eq(identities.userId, owner.userId))).toBe(1);
});

it('unlinking a subject ends the sessions that it started, and replaces the user’s own', async () => {
  const { email, userId, organisationId } = await makeOwner(test);
  await linkSubject(test, userId, `subject of ${email}`);
  const holder = { userId, organisationId, client: testClient };
  const byPassword = await startSession(test.app, holder);
  const bySubject = await startSession(test.app, { ...holder, idpSubject: `subject of ${email}` });
  const own = await signInAs(test, email, { idpSubject: `subject of ${email}` });

  const started: unknown[] = [];
  const session = { start: async (begun: unknown) => void started.push(begun) };
  const { accounts } = callerFor(test, own.principal, { session });
  await expect(accounts.unlinkIdentity({ password: 'not the pass phrase' })).rejects.toMatchObject({
    cause: { code: 'UNAUTHENTICATED', fields: { password: expect.any(String) } },
  });
  await accounts.unlinkIdentity({ password: testPassword });

  expect(await readSession(test.app, bySubject)).toBeNull();
  expect(await readSession(test.app, byPassword)).not.toBeNull();
  const replaces = { hasFactor: false, identityFactor: false };
  expect(started).toEqual([{ userId, organisationId, passwordHash: expect.any(String), replaces }]);
  const late = { ...holder, idpSubject: `subject of ${email}` };
  await expect(startSession(test.app, late)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

it('the deletion of an account frees its subject', async () => {
  const owner = await unlinked();
  await owner.api.leaving.deleteAccount({ password: testPassword });
  const again = await signIn(owner.sub);
  expect(again.userId).not.toBe(owner.userId);
  const [user] = await test.app.db.select().from(users).where(eq(users.id, again.userId));
  expect(user?.email).toBe(owner.email);
});
