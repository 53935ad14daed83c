import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { oneTimeTokens, signUps, users } from '../../platform/db/schema/accounts.ts';
import { rateLimits } from '../../platform/db/schema/deployment.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import {
  approveOwner,
  createPasswordLink,
  declineOwner,
  restoreOrganisation,
  suspendOrganisation,
} from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  makeIdentity,
  makeOwner,
  makeSignUp,
  newEmail,
  signInAs,
  testClient,
  testPassword,
  tokenIn,
  wantAddress,
} from '../../testing/factories.ts';
import { deleteExpired } from '../delete-expired.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { matchUser } from '../sign-in/match-user.ts';
import { openSession } from '../sign-in/open-session.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';
import { signUp, signUpInput } from '../sign-up/sign-up.ts';
import { sendVerification } from '../verification/send-verification.ts';
import { verifyEmail } from '../verification/verify-email.ts';
import { newPasswordLinkToken } from './one-time-token.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const other = 'quite another pass phrase';

function signIn(email: string, password: string) {
  return signInWithPassword(test.app, { email, password }, testClient);
}

it('starts no session for a password that was changed while it was being checked', async () => {
  const { api, email } = await makeOwner(test);
  const proved = await signIn(email, testPassword);
  await api.accounts.changePassword({ current_password: testPassword, password: other });
  await expect(startSession(test.app, { ...proved, client: testClient })).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  });
});

it('leaves no session that the old password started, however many sign-ins run in parallel', async () => {
  const { api, email } = await makeOwner(test);
  const ids: string[] = [];
  const signIns = Array.from({ length: 12 }, async () => {
    const proved = await signIn(email, testPassword);
    ids.push(await startSession(test.app, { ...proved, client: testClient }));
  });
  const change = api.accounts.changePassword({ current_password: testPassword, password: other });
  await Promise.allSettled([...signIns, change]);
  await change;
  const principals = await Promise.all(ids.map((id) => readSession(test.app, id)));
  expect(principals.filter((principal) => principal !== null)).toEqual([]);
});

it('accepts one of two concurrent changes of a password, and refuses the other', async () => {
  const { api, email } = await makeOwner(test);
  const second = await signInAs(test, email);
  const wanted = [other, 'a third pass phrase'];
  const ended = await Promise.allSettled([
    api.accounts.changePassword({ current_password: testPassword, password: wanted[0] ?? '' }),
    second.api.accounts.changePassword({ current_password: testPassword, password: wanted[1] ?? '' }),
  ]);
  const winner = ended.findIndex(({ status }) => status === 'fulfilled');
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await signIn(email, wanted[winner] ?? '');
});

it('sends no mail for a change of address that was requested before the password changed', async () => {
  const { api, userId, principal } = await makeOwner(test);
  const thief = await signInAs(test, principal.user.email);
  await api.accounts.changePassword({ current_password: testPassword, password: other });

  const email = newEmail();
  await wantAddress(test, { userId, email });
  await sendVerification(test.app, { email, userId, sessionId: thief.principal.sessionId });
  expect(test.sandbox.mailbox.messages(email)).toEqual([]);
});

it('starts no session for an address that was changed while its password was being checked', async () => {
  const { email: old, userId, organisationId, principal } = await makeOwner(test);
  const proved = await signIn(old, testPassword);

  const email = newEmail();
  await wantAddress(test, { userId, email });
  await sendVerification(test.app, { email, userId, sessionId: principal.sessionId });
  const token = tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
  const sessionToken = await startSession(test.app, { userId, organisationId, client: testClient });
  const outcome = await verifyEmail(test.app, { token, browserToken: null, sessionToken }, testClient);
  expect(outcome.kind).toBe('address-changed');

  await expect(openSession(test.app, proved, testClient)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect((await openSession(test.app, await signIn(email, testPassword), testClient)).kind).toBe('session');
});

it('starts no session for an account that was deleted concurrently', async () => {
  const { api, email } = await makeOwner(test);
  const proved = await signIn(email, testPassword);
  await api.leaving.deleteAccount({ password: testPassword });
  await expect(startSession(test.app, { ...proved, client: testClient })).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  });
});

it('of several links for one address that are opened concurrently, one succeeds and none throws', async () => {
  for (let round = 0; round < 5; round++) {
    const { email, token } = await makeSignUp(test);
    for (let more = 0; more < 3; more++) {
      await signUp(test.app, signUpInput.parse({ email, password: testPassword }), testClient);
    }
    await expect.poll(() => test.sandbox.mailbox.messages(email).length).toBe(4);
    const tokens = test.sandbox.mailbox.messages(email).map(({ text }) => tokenIn(text));
    expect(tokens).toContain(token);
    const outcomes = await Promise.all(
      tokens.map((each) => verifyEmail(test.app, { token: each, browserToken: null }, testClient)),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  }
});

it('a link and the identity provider can verify one account concurrently without an error', async () => {
  for (let round = 0; round < 5; round++) {
    const { email, token } = await makeSignUp(test);
    const [outcome, person] = await Promise.all([
      verifyEmail(test.app, { token, browserToken: null }, testClient),
      test.app.db.transaction((tx) => matchUser(test.app, tx, makeIdentity({ email }), testClient)),
    ]);
    expect(typeof outcome.ok).toBe('boolean');
    expect(person.accountStatus).toBe('awaiting_approval');
  }
});

it('leaves one password link of eight that are created concurrently', async () => {
  const { email, userId } = await makeOwner(test);
  const links = await Promise.all(Array.from({ length: 8 }, () => createPasswordLink(test.app, email)));
  expect(await test.app.db.select().from(oneTimeTokens).where(eq(oneTimeTokens.userId, userId))).toHaveLength(1);

  const { accounts } = callerFor(test, null);
  const ended = await Promise.allSettled(
    links.map((link) =>
      accounts.setPassword({ token: new URL(link).searchParams.get('token') ?? '', password: other }),
    ),
  );
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const each of ended) {
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ cause: { code: 'VALIDATION' } });
  }
});

it('ends the sessions of closed accounts, also when they are restored immediately', async () => {
  const suspended = await makeOwner(test);
  const first = await startSession(test.app, { ...suspended, client: testClient });
  await suspendOrganisation(test.app, suspended.principal.organisation?.slug ?? '');
  await restoreOrganisation(test.app, suspended.principal.organisation?.slug ?? '');
  expect(await readSession(test.app, first)).toBeNull();

  const declined = await makeOwner(test, { approved: false });
  const second = await startSession(test.app, { ...declined, client: testClient });
  await declineOwner(test.app, declined.email, 'Not a customer.');
  await approveOwner(test.app, declined.email);
  expect(await readSession(test.app, second)).toBeNull();
});

it('deletes what has expired: sign-ups for a confirmed address, rate limits, one-time tokens', async () => {
  const late = await startTestApp();
  const { email, userId } = await makeOwner(late);
  await signUp(late.app, signUpInput.parse({ email, password: other }), testClient);
  await late.app.db.insert(rateLimits).values({ key: 'spent', points: 1, expire: late.app.now().getTime() });
  await late.app.db.transaction((tx) => newPasswordLinkToken(late.app, tx, userId));
  const { email: unproven } = await makeSignUp(late);

  late.advance(2 * dayMilliseconds);
  await deleteExpired(late.app);
  expect(await late.app.db.select().from(signUps).where(eq(signUps.userId, userId))).toEqual([]);
  expect(await late.app.db.select().from(rateLimits)).toEqual([]);
  expect(await late.app.db.select().from(oneTimeTokens)).toEqual([]);
  expect(await late.app.db.select().from(users).where(eq(users.email, unproven))).toHaveLength(1);

  late.advance(6 * dayMilliseconds);
  await deleteExpired(late.app);
  expect(await late.app.db.select().from(users).where(eq(users.email, unproven))).toEqual([]);
  await late.close();
});
