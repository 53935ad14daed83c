import { openBrowser } from '@gatehouse/sandbox/testing';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, makeOwner, newEmail, testClient } from '../../testing/factories.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { finishSignIn, startSignIn } from './attempt.ts';
import { requireSignInSince } from './id-token.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** Chooses an account at the provider and returns what the callback gets. */
async function choose({ url, cookie }: { url: string; cookie: string }, sub: string) {
  const browser = openBrowser();
  const chooser = await browser.open(url);
  const back = new URL((await browser.open(chooser.at, { sub })).at);
  const query = (name: string) => back.searchParams.get(name);
  return { state: query('state'), code: query('code'), error: query('error'), attemptCookie: cookie };
}

/** A user without a password, who signed in through the provider. */
async function withoutPassword() {
  const owner = await makeOwner(test);
  await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, owner.userId));
  const { sub } = test.sandbox.idp.people.add({ email: owner.email, email_verified: true });
  const started = await startSignIn(test.app, { attemptCookie: null }, testClient);
  if (started === null) throw new Error('the feature is off');
  const signedIn = await finishSignIn(test.app, await choose(started, sub), testClient);
  if (!('userId' in signedIn)) throw new Error('no sign-in');
  const session = () => startSession(test.app, { ...signedIn, client: testClient });
  return { ...owner, sub, session };
}

async function startConfirming(sessionToken: string, returnTo = '/keys?name=Worker') {
  const attempts: string[] = [];
  const session = { rememberAttempt: (attempt: string) => void attempts.push(attempt) };
  const api = callerFor(test, await readSession(test.app, sessionToken), { session });
  const { url } = await api.accounts.confirmWithProvider({ return_to: returnTo });
  return { url, cookie: attempts[0] ?? '' };
}

async function isFresh(token: string): Promise<boolean> {
  const api = callerFor(test, await readSession(test.app, token));
  return (await api.accounts.profile()).user.fresh_sign_in;
}

it('makes the session fresh, with a new token, and names the page to return to', async () => {
  const { sub, session } = await withoutPassword();
  const sessionToken = await session();
  expect(await isFresh(sessionToken)).toBe(false);

  const started = await startConfirming(sessionToken);
  const asked = new URL(started.url).searchParams;
  expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['select_account', '0']);
  const finished = await finishSignIn(test.app, { ...(await choose(started, sub)), sessionToken }, testClient);
  expect(finished).toEqual({ freshToken: expect.any(String), waitsForCode: false, returnTo: '/keys?name=Worker' });
  expect(await readSession(test.app, sessionToken)).toBeNull();
  expect(await isFresh('freshToken' in finished ? finished.freshToken : '')).toBe(true);
});

it.each(['//elsewhere.example', 'https://elsewhere.example/', '/\\elsewhere.example'])(
  'returns to no other host: %s',
  async (returnTo) => {
    const { sub, session } = await withoutPassword();
    const sessionToken = await session();
    const answer = await choose(await startConfirming(sessionToken, returnTo), sub);
    const finished = await finishSignIn(test.app, { ...answer, sessionToken }, testClient);
    expect(finished).toMatchObject({ returnTo: null });
  },
);

it('is refused with another subject, in another session, and without one', async () => {
  const { sub, session } = await withoutPassword();
  const sessionToken = await session();
  const other = test.sandbox.idp.people.add({ email: newEmail(), email_verified: true }).sub;
  const finish = async (as: string, token: string | null) =>
    finishSignIn(
      test.app,
      { ...(await choose(await startConfirming(sessionToken), as)), sessionToken: token },
      testClient,
    );
  await expect(finish(other, sessionToken)).rejects.toThrow('the subject is another one');
  await expect(finish(sub, await session())).rejects.toThrow('another session');
  await expect(finish(sub, null)).rejects.toThrow('another user');
  expect(await isFresh(sessionToken)).toBe(false);
});

it('is refused to a user with a password, and to one without an identity', async () => {
  const { api, userId } = await makeOwner(test);
  await expect(api.accounts.confirmWithProvider({})).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
  await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, userId));
  await expect(api.accounts.confirmWithProvider({})).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
});

it.each<[string, unknown, boolean]>([
  ['absent', undefined, true],
  ['null', null, true],
  ['of the attempt', 1000, true],
  ['a minute before it', 940, true],
  ['earlier', 939, false],
  ['no number', '1000', false],
])('an auth_time that is %s passes or not', (_case, auth_time, passes) => {
  const check = () => requireSignInSince({ auth_time }, new Date(1_000_000));
  if (passes) check();
  else expect(check).toThrow('auth_time');
});
