import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { newEmail, testClient, testPassword, tokenIn } from '../testing/makers.ts';
import { signUp, signUpInput } from './sign-up.ts';
import { verifyEmail } from './verify-email.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('delivers a link once a mail server that refused takes mail again, and answers the same meanwhile', async () => {
  const email = newEmail();
  test.sandbox.mailbox.setFault('refuse');
  const answer = await signUp(test.app, signUpInput.parse({ email, password: testPassword }), testClient);
  expect(answer.email).toBe(email);
  await expect.poll(() => test.logged.some(({ message }) => message === 'job failed'), { timeout: 10_000 }).toBe(true);

  test.sandbox.mailbox.setFault(null);
  const mail = await test.sandbox.mailbox.waitFor(email);
  const outcome = await verifyEmail(test.app, { token: tokenIn(mail.text), browserToken: null }, testClient);
  expect(outcome.ok).toBe(true);
}, 30_000);
