import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { dayMilliseconds, minuteMilliseconds } from '../../platform/durations.ts';
import type { Caller } from '../../router/root.ts';
import { suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  makeOwner,
  makeSignUp,
  newEmail,
  signUpOwner,
  testClient,
  testPassword,
  wantAddress,
} from '../../testing/factories.ts';
import { signUp, signUpInput } from '../sign-up/sign-up.ts';
import { resendVerification, sendVerification } from './send-verification.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ environment: { RATE_LIMITS: 'on' } });
});
afterAll(() => test.close());

const resend = (email: string) => resendVerification(test.app, { email });
const enter = (email: string) =>
  signUp(test.app, signUpInput.parse({ email, password: testPassword, org_name: 'Company' }), testClient);
const change = (api: Caller, email: string) => api.accounts.changeAddress({ email, password: testPassword });
const someId = '00000000-0000-4000-8000-000000000000';
const jobIdOf = (index: number) => `${someId.slice(0, -2)}${index + 10}`;
const mailsTo = (email: string) => test.sandbox.mailbox.messages(email).length;

/** Waits until every mail job has ended. */
async function mailed(): Promise<void> {
  const open = () =>
    test.app.sql`select id from pgboss.job where name = 'verification-mail' and state < 'completed'`.then(
      ({ length }) => length,
    );
  await expect.poll(open).toBe(0);
}

it('mails another link to an address at most once a minute', async () => {
  const { email } = await makeSignUp(test);
  test.advance(2 * minuteMilliseconds);
  for (let asked = 0; asked < 3; asked++) {
    await resend(email);
    await mailed();
  }
  expect(mailsTo(email)).toBe(2);

  test.advance(minuteMilliseconds - 5000);
  await resend(email);
  await mailed();
  expect(mailsTo(email)).toBe(2);

  test.advance(10_000);
  await resend(email);
  await mailed();
  expect(mailsTo(email)).toBe(3);
});

it('mails an address at most five times an hour and twenty times a day, whatever kind of link is requested', async () => {
  const email = newEmail();
  const otherOwner = await makeOwner(test);
  const askings = [() => enter(email), () => resend(email), () => change(otherOwner.api, email)];
  const askOften = async () => {
    for (let asked = 0; asked < 7; asked++) {
      await askings[asked % askings.length]?.();
      await mailed();
      test.advance(minuteMilliseconds + 1000);
    }
  };
  for (const mails of [5, 10, 15, 20, 20, 20]) {
    await askOften();
    expect(mailsTo(email)).toBe(mails);
    test.advance(61 * minuteMilliseconds);
  }

  test.advance(dayMilliseconds);
  await enter(email);
  await mailed();
  expect(mailsTo(email)).toBe(21);
});

it('counts the links that a new password ended', async () => {
  const email = newEmail();
  const otherOwner = await makeOwner(test);
  let current = testPassword;
  for (let asked = 0; asked < 7; asked++) {
    await otherOwner.api.accounts.changeAddress({ email, password: current });
    await mailed();
    const password = `quite another pass phrase ${asked}`;
    await otherOwner.api.accounts.changePassword({ current_password: current, password });
    current = password;
  }
  expect(mailsTo(email)).toBe(1);
});

it('sends five mails to an address for which 20 jobs of several accounts run in parallel', async () => {
  const email = newEmail();
  const otherOwners = await Promise.all(Array.from({ length: 10 }, () => makeOwner(test)));
  await enter(email);
  await mailed();
  test.advance(2 * minuteMilliseconds);
  for (const { userId } of otherOwners) await wantAddress(test, { userId, email });
  await Promise.all([
    ...otherOwners.map(({ userId, principal }, index) =>
      sendVerification(test.app, { email, userId, sessionId: principal.sessionId }, jobIdOf(index)),
    ),
    ...otherOwners.map((_, index) => sendVerification(test.app, { email, signUpId: someId }, jobIdOf(index + 10))),
  ]);
  expect(mailsTo(email)).toBe(5);
});

it('counts the mails of a known browser apart, so that other clients cannot use up its limit', async () => {
  const email = newEmail();
  for (let asked = 0; asked < 7; asked++) {
    await enter(email);
    await mailed();
  }
  expect(mailsTo(email)).toBe(5);

  for (let asked = 0; asked < 7; asked++) {
    test.advance(minuteMilliseconds + 1000);
    await resendVerification(test.app, { email }, { fromKnownBrowser: true });
    await mailed();
  }
  expect(mailsTo(email)).toBe(10);
});

it('mails no text that the requester typed', async () => {
  const name = 'Win a prize at lure dot example';
  const { mail } = await makeSignUp(test, { name });
  expect(JSON.stringify(mail)).not.toMatch(/prize|lure/);
});

it('sends the mail of a job once, also where the job runs again after it was sent', async () => {
  const { email } = await makeSignUp(test);
  const job = { email, signUpId: someId };
  for (let run = 0; run < 2; run++) await sendVerification(test.app, job, jobIdOf(50));
  expect(mailsTo(email)).toBe(2);
  await sendVerification(test.app, job, jobIdOf(51));
  expect(mailsTo(email)).toBe(3);
});

it('does not count a mail that was not sent', async () => {
  const { email } = await makeSignUp(test);
  test.advance(2 * minuteMilliseconds);
  const before = test.logged.length;
  test.sandbox.mailbox.setFault('refuse');
  await resend(email);
  const failed = () => test.logged.slice(before).some(({ message }) => message === 'job failed');
  await expect.poll(failed).toBe(true);

  test.sandbox.mailbox.setFault(null);
  await mailed();
  expect(mailsTo(email)).toBe(2);
});

it('mails a link for a lost password to an address that is confirmed, for a sign-up and a resend alike', async () => {
  const { email } = await signUpOwner(test);
  test.advance(2 * minuteMilliseconds);
  await resend(email);
  await mailed();
  test.advance(2 * minuteMilliseconds);
  await enter(email);
  await mailed();
  expect(mailsTo(email)).toBe(3);
  const sent = await test.app.db.select().from(verificationLinks).where(eq(verificationLinks.email, email));
  expect(sent.map(({ purpose, signUpId }) => [purpose, signUpId]).sort()).toEqual([
    ['lost-password', null],
    ['lost-password', null],
    ['sign-up', expect.any(String)],
  ]);
});

it('mails nothing to a closed account, nor to an address without an account', async () => {
  const { email } = await signUpOwner(test);
  const unknown = newEmail();
  await suspendUser(test.app, email);
  test.advance(2 * minuteMilliseconds);
  for (const each of [email, unknown]) await resend(each);
  await enter(email);
  await mailed();
  expect([mailsTo(email), mailsTo(unknown)]).toEqual([1, 0]);
  expect(await test.app.db.select().from(users).where(eq(users.email, unknown))).toEqual([]);
});
