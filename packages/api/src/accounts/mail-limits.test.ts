import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../db/id.ts';
import { signUps, users, verificationLinks } from '../db/schema.ts';
import { hashToken, newToken } from '../security/token.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOwner, makeSignUp, newEmail, testClient, testPassword } from '../testing/makers.ts';
import { sendVerification } from './send-verification.ts';
import { signUp, signUpInput } from './sign-up.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** A sign-up whose mail left so long ago that another link may be asked for. */
async function mailedBefore() {
  const { email } = await makeSignUp(test);
  test.advance(61_000);
  return email;
}

/** How many mails went to an address since its sign-up. */
function resent(email: string): number {
  return test.sandbox.mailbox.messages(email).length - 1;
}

/** What a job leaves behind that is killed before the mail server has the mail. */
async function killedWhileMailing(email: string, jobId: string): Promise<void> {
  const [user] = await test.app.db.select().from(users).where(eq(users.email, email));
  const now = test.app.now();
  await test.app.db.insert(verificationLinks).values({
    tokenHash: hashToken(newToken()),
    userId: user?.id ?? '',
    purpose: 'sign-up',
    email,
    jobId,
    createdAt: now,
    expiresAt: new Date(now.getTime() + 3_600_000),
  });
}

it('mails one link of eight that are asked for at once', async () => {
  for (let round = 0; round < 3; round++) {
    const email = await mailedBefore();
    await Promise.all(Array.from({ length: 8 }, () => sendVerification(test.app, { email }, newId(test.app.now()))));
    expect(resent(email)).toBe(1);
  }
});

it('mails five links of ten sign-ups at once', async () => {
  const limited = await startTestApp({ environment: { RATE_LIMITS: 'on' }, work: false });
  const email = newEmail();
  for (let count = 0; count < 10; count++) {
    await signUp(limited.app, signUpInput.parse({ email, password: testPassword }), testClient);
  }
  const rows = await limited.app.db.select({ id: signUps.id }).from(signUps);
  await Promise.all(
    rows.map(({ id }) => sendVerification(limited.app, { email, signUpId: id }, newId(limited.app.now()))),
  );
  expect(limited.sandbox.mailbox.messages(email)).toHaveLength(5);
  await limited.close();
});

it('mails a new address one link of eight that one person asks for at once', async () => {
  const { userId, principal } = await makeOwner(test);
  const email = newEmail();
  const job = { email, userId, sessionId: principal.sessionId };
  await Promise.all(Array.from({ length: 8 }, () => sendVerification(test.app, job, newId(test.app.now()))));
  expect(test.sandbox.mailbox.messages(email)).toHaveLength(1);
});

it('mails the link of a job that was killed while it mailed, once it is begun anew', async () => {
  const email = await mailedBefore();
  const jobId = newId(test.app.now());
  await killedWhileMailing(email, jobId);
  await sendVerification(test.app, { email }, jobId);
  expect(resent(email)).toBe(1);
});

it('tells the queue’s jobs who they are', async () => {
  const { email } = await makeSignUp(test);
  const [link] = await test.app.db.select().from(verificationLinks).where(eq(verificationLinks.email, email));
  expect(link?.jobId).toEqual(expect.any(String));
});

it('waits for a mail that another job is handing over, and no longer than that may take', async () => {
  const email = await mailedBefore();
  await killedWhileMailing(email, newId(test.app.now()));
  await sendVerification(test.app, { email }, newId(test.app.now()));
  expect(resent(email)).toBe(0);
  test.advance(31_000);
  await sendVerification(test.app, { email }, newId(test.app.now()));
  expect(resent(email)).toBe(1);
});

it('counts a minute from when the mail was sent', async () => {
  const email = await mailedBefore();
  const sentAt = new Date(test.app.now().getTime() - 30_000);
  await test.app.db.update(verificationLinks).set({ sentAt }).where(eq(verificationLinks.email, email));
  await sendVerification(test.app, { email }, newId(test.app.now()));
  expect(resent(email)).toBe(0);
  test.advance(31_000);
  await sendVerification(test.app, { email }, newId(test.app.now()));
  expect(resent(email)).toBe(1);
});
