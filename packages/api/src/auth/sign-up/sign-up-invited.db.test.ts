import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeMember } from '../../testing/billing.ts';
import {
  callerFor,
  makeInvitation,
  makeOwner,
  makeSignUp,
  newEmail,
  signInAs,
  testClient,
  testPassword,
  tokenIn,
} from '../../testing/factories.ts';
import { deleteExpired } from '../delete-expired.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';
import { resendVerification } from '../verification/send-verification.ts';
import { verifyEmail } from '../verification/verify-email.ts';
import { signUp, signUpInput } from './sign-up.ts';

let test: TestApp;
let invitation: string;
beforeAll(async () => {
  test = await startTestApp();
  invitation = await makeInvitation(await makeOwner(test, { name: 'Host' }));
});
afterAll(() => test.close());

const other = 'quite another pass phrase';

function open({ token, browserToken }: { token: string; browserToken: string | null }) {
  return verifyEmail(test.app, { token, browserToken }, testClient);
}

/** A further sign-up for an address: its browser, and the token that its mail brings. */
async function signUpAgain(email: string, before: Awaited<ReturnType<typeof makeSignUp>>['mail'], invited: boolean) {
  const typed = { email, password: other, org_name: 'Owners Ltd', ...(invited && { invitation }) };
  const { browserToken } = await signUp(test.app, signUpInput.parse(typed), testClient);
  return { browserToken, token: tokenIn((await test.sandbox.mailbox.waitFor(email, before)).text) };
}

function organisationsOf(email: string) {
  return test.app.db
    .select({ name: organisations.name, approval: organisations.approval })
    .from(users)
    .innerJoin(memberships, eq(memberships.userId, users.id))
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(eq(users.email, email));
}

it('makes an account without an organisation, which awaits approval until it joins', async () => {
  const { email, token, browserToken, mail } = await makeSignUp(test, { invitation });
  expect(mail.text).toContain('You (or someone else) used this address at Gatehouse.');
  expect(await open({ token, browserToken })).toMatchObject({ ok: true, awaitingApproval: true, invited: true });
  expect(await organisationsOf(email)).toEqual([]);

  const { userId, organisationId } = await signInWithPassword(test.app, { email, password: testPassword }, testClient);
  const id = await startSession(test.app, { userId, organisationId, client: testClient });
  expect(await readSession(test.app, id)).toMatchObject({
    organisation: null,
    scopes: [],
    accountStatus: 'awaiting_approval',
  });
  await callerFor(test, await readSession(test.app, id)).members.join({ token: invitation });
  expect(await readSession(test.app, id)).toMatchObject({
    organisation: { name: 'Host' },
    role: 'member',
    accountStatus: 'active',
  });
  invitation = await makeInvitation(await makeOwner(test, { name: 'Host' }));
});

it('refuses an invalid invitation with the same message for a known and an unknown address', async () => {
  const { email } = await makeOwner(test);
  for (const address of [email, newEmail()]) {
    const typed = signUpInput.parse({ email: address, password: testPassword, invitation: 'dead' });
    await expect(signUp(test.app, typed, testClient)).rejects.toMatchObject({
      code: 'VALIDATION',
      fields: { invitation: 'This invitation is no longer valid.' },
    });
  }
});

it('does not change a verified account when its address signs up again', async () => {
  const { email } = await makeOwner(test, { name: 'Own Ltd' });
  await signUp(test.app, signUpInput.parse({ email, password: other, invitation }), testClient);
  expect(await organisationsOf(email)).toEqual([{ name: 'Own Ltd', approval: 'approved' }]);
  await signInWithPassword(test.app, { email, password: testPassword }, testClient);
});

it('makes the organisation of the sign-up whose link was opened, where another sign-up came by an invitation', async () => {
  const { email, mail } = await makeSignUp(test, { invitation });
  expect(await open(await signUpAgain(email, mail, false))).toMatchObject({ awaitingApproval: true, invited: false });
  expect(await organisationsOf(email)).toEqual([{ name: 'Owners Ltd', approval: 'pending' }]);
  await signInWithPassword(test.app, { email, password: other }, testClient);
});

it('leaves nothing of the organisation of another sign-up, where the link that was opened came by an invitation', async () => {
  const { email, mail } = await makeSignUp(test, { name: 'Squatters Ltd' });
  expect(await open(await signUpAgain(email, mail, true))).toMatchObject({ awaitingApproval: true, invited: true });
  expect(await organisationsOf(email)).toEqual([]);
  expect(await test.app.db.$count(organisations, eq(organisations.name, 'Squatters Ltd'))).toBe(0);
});

it.each([
  [true, 0],
  [false, 1],
])(
  'a link that belongs to no sign-up leaves the account awaiting approval (all invited: %s)',
  async (allInvited, owned) => {
    const { email, mail } = await makeSignUp(test, { invitation });
    await signUpAgain(email, mail, allInvited);
    test.advance(61_000);
    const [newest] = test.sandbox.mailbox.messages(email);
    await resendVerification(test.app, { email });
    const token = tokenIn((await test.sandbox.mailbox.waitFor(email, newest)).text);
    expect(await open({ token, browserToken: null })).toMatchObject({ ok: true, awaitingApproval: true });
    expect(await organisationsOf(email)).toEqual(owned === 1 ? [{ name: null, approval: 'pending' }] : []);
  },
);

it('does the same work for a known and an unknown address', async () => {
  const quiet = await startTestApp({ work: false });
  const owner = await makeMember(quiet);
  const token = await makeInvitation(await signInAs(quiet, owner.user.email));
  async function statements(email: string): Promise<string[]> {
    const asked: string[] = [];
    const { options } = quiet.app.sql;
    options.debug = (_, statement) => void asked.push(statement.split(' ', 3).join(' '));
    await signUp(quiet.app, signUpInput.parse({ email, password: other, invitation: token }), testClient);
    options.debug = false;
    return asked;
  }
  const [first, second] = [newEmail(), newEmail()];
  await statements(first);
  expect(await statements(first)).toEqual(await statements(second));
  await quiet.close();
});

it('is deleted after a week if its link was not opened', async () => {
  const late = await startTestApp();
  const host = await makeOwner(late);
  const { email } = await makeSignUp(late, { invitation: await makeInvitation(host) });
  late.advance(8 * dayMilliseconds);
  await deleteExpired(late.app);
  expect(await late.app.db.$count(users, eq(users.email, email))).toBe(0);
  expect(await late.app.db.$count(organisations)).toBe(1);
  await late.close();
});
