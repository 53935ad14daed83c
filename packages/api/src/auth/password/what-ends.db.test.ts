import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oneTimeTokens, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from '../../platform/durations.ts';
import { createPasswordLink, restoreUser, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  makeOwner,
  makeSignUp,
  newEmail,
  signUpOwner,
  testClient,
  testPassword,
  tokenIn,
} from '../../testing/factories.ts';
import { deleteExpired } from '../delete-expired.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { resendVerification } from '../verification/send-verification.ts';
import { verifyEmail } from '../verification/verify-email.ts';

const name = 'Acme Front Desk';
const other = 'quite another pass phrase';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ environment: { SERVICE_NAME: name, APPROVED_DOMAINS: 'company.example' } });
});
afterAll(() => test.close());

function open(token: string) {
  return verifyEmail(test.app, { token, browserToken: null }, testClient);
}

async function passwordTokenFor(email: string): Promise<string> {
  return new URL(await createPasswordLink(test.app, email)).searchParams.get('token') ?? '';
}

/** A link for a change of address that is under way. */
async function changeLinkOf({ api }: Awaited<ReturnType<typeof makeOwner>>): Promise<string> {
  const email = newEmail();
  await api.accounts.changeAddress({ email, password: testPassword });
  return tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
}

describe('suspending a user', () => {
  it('ends every session, and restoring the user brings none back', async () => {
    const owner = await makeOwner(test);
    const id = await startSession(test.app, { ...owner, client: testClient });
    await suspendUser(test.app, owner.email);
    expect(await test.app.db.select().from(sessions).where(eq(sessions.userId, owner.userId))).toEqual([]);
    await restoreUser(test.app, owner.email);
    expect(await readSession(test.app, id)).toBeNull();
  });

  it('is refused for the operator’s own account', async () => {
    const { api, userId, principal } = await makeOwner(test, { operator: true });
    await expect(api.operators.suspend({ user_id: userId })).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
    expect(principal.user.operator).toBe(true);
    expect(await api.accounts.profile()).toMatchObject({ sessions: [{ current: true }] });
  });
});

describe('a new password', () => {
  it('set by a one-time link ends a change of address that is under way', async () => {
    const owner = await makeOwner(test);
    const change = await changeLinkOf(owner);
    await callerFor(test, null).accounts.setPassword({ token: await passwordTokenFor(owner.email), password: other });
    expect(await open(change)).toMatchObject({ ok: false, kind: 'dead' });
  });

  it('set by the user ends the one-time links that an operator made', async () => {
    const { api, email } = await makeOwner(test);
    const token = await passwordTokenFor(email);
    await api.accounts.changePassword({ current_password: testPassword, password: other });
    await expect(
      callerFor(test, null).accounts.setPassword({ token, password: 'a third pass phrase' }),
    ).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
  });

  it.each(['address', 'name of the service'])('is not the %s, at sign-up or by a one-time link', async (what) => {
    const { email } = await makeOwner(test);
    const fresh = newEmail();
    const { accounts } = callerFor(test, null);
    const token = await passwordTokenFor(email);
    const refused = { cause: { code: 'VALIDATION', fields: { password: expect.stringMatching(/must not be/) } } };
    const like = (address: string) => (what === 'address' ? address : name).toUpperCase();

    await expect(accounts.signUp({ email: fresh, password: like(fresh) })).rejects.toMatchObject(refused);
    await expect(accounts.setPassword({ token, password: like(email) })).rejects.toMatchObject(refused);
    await accounts.setPassword({ token, password: other });
  });
});

describe('the tokens on the page of a link', () => {
  /** An address that was signed up with twice, whose resent link carries no password and no approval. */
  async function offers() {
    const { email } = await makeSignUp(test);
    await callerFor(test, null).accounts.signUp({ email, password: other });
    await expect.poll(() => test.sandbox.mailbox.messages(email).length).toBe(2);
    const [second] = test.sandbox.mailbox.messages(email);
    test.advance(2 * minuteMilliseconds);
    await resendVerification(test.app, { email });
    const mail = await test.sandbox.mailbox.waitFor(email, second);
    const outcome = await open(tokenIn(mail.text));
    if (!('offers' in outcome)) throw new Error('The page offers nothing.');
    const { password, approvalToken } = outcome.offers;
    return { first: password?.token ?? '', approval: approvalToken ?? '' };
  }

  it.each([
    ['are valid after fourteen minutes', 14, true],
    ['have expired after sixteen minutes', 16, false],
  ] as const)('%s', async (_, minutes, isAllowed) => {
    const { first, approval } = await offers();
    const { accounts } = callerFor(test, null);
    test.advance(minutes * minuteMilliseconds);
    for (const call of [
      () => accounts.approveByDomain({ token: approval }),
      () => accounts.setPassword({ token: first, password: other }),
    ]) {
      if (isAllowed) expect(await call()).toMatchObject({ ok: true });
      else await expect(call()).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
    }
  });
});

it('deletes used and expired links after a day, and keeps valid ones', async () => {
  const late = await startTestApp({ environment: { VERIFICATION_TTL_SECONDS: '7200' } });
  const used = await signUpOwner(late);
  const { email: unused } = await makeSignUp(late);
  const linksOf = async (email: string) =>
    (await late.app.db.select().from(verificationLinks).where(eq(verificationLinks.email, email))).length;

  late.advance(23 * hourMilliseconds);
  await deleteExpired(late.app);
  expect([await linksOf(used.email), await linksOf(unused)]).toEqual([1, 1]);
  late.advance(90 * minuteMilliseconds);
  await deleteExpired(late.app);
  expect([await linksOf(used.email), await linksOf(unused)]).toEqual([0, 1]);
  late.advance(90 * minuteMilliseconds);
  await deleteExpired(late.app);
  expect(await linksOf(unused)).toBe(0);
  await late.close();
});

it('deletes one-time tokens a day after they expire', async () => {
  const late = await startTestApp();
  const { email } = await makeOwner(late);
  await createPasswordLink(late.app, email);
  late.advance(dayMilliseconds);
  await deleteExpired(late.app);
  expect(await late.app.db.select().from(oneTimeTokens)).toHaveLength(1);
  late.advance(61 * minuteMilliseconds);
  await deleteExpired(late.app);
  expect(await late.app.db.select().from(oneTimeTokens)).toEqual([]);
  await late.close();
});
