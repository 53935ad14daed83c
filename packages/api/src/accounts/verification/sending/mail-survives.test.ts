import { expect, it } from 'vitest';
import { startTestApp } from '../../../testing/app.ts';
import { newEmail, testClient, testPassword, tokenIn } from '../../../testing/factories.ts';
import { signUp, signUpInput } from '../../sign-up/sign-up.ts';
import { verifyEmail } from '../verify-email.ts';

const timeouts = { mailConnectSeconds: 2, mailIdleSeconds: 2, jobPollSeconds: 0.5, jobRetrySeconds: 1 };

it.concurrent.each(['refuse', 'later', 'close', 'hang'] as const)(
  'delivers a link after a mail server with the fault "%s" recovers, and gives the same answer meanwhile',
  async (fault) => {
    const test = await startTestApp({ timeouts });
    const email = newEmail();
    test.sandbox.mailbox.setFault(fault);
    const answer = await signUp(test.app, signUpInput.parse({ email, password: testPassword }), testClient);
    expect(answer.email).toBe(email);
    const failed = () => test.logged.some(({ message }) => message === 'job failed');
    await expect.poll(failed, { timeout: 35_000 }).toBe(true);

    test.sandbox.mailbox.setFault(null);
    const mail = await test.sandbox.mailbox.waitFor(email);
    const outcome = await verifyEmail(test.app, { token: tokenIn(mail.text), browserToken: null }, testClient);
    expect(outcome.ok).toBe(true);
    await test.close();
  },
);
