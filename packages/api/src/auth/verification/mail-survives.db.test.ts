import { expect, it } from 'vitest';
import { startTestApp } from '../../testing/app.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { startTcpProxy } from '../../testing/database/tcp-proxy.ts';
import { newEmail, testClient, testPassword, tokenIn } from '../../testing/factories.ts';
import { signUp, signUpInput } from '../sign-up/sign-up.ts';
import { verifyEmail } from './verify-email.ts';

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
    await expect.poll(failed, { timeout: 120_000 }).toBe(true);

    test.sandbox.mailbox.setFault(null);
    const mail = await test.sandbox.mailbox.waitFor(email);
    const outcome = await verifyEmail(test.app, { token: tokenIn(mail.text), browserToken: null }, testClient);
    expect(outcome.ok).toBe(true);
    await test.close();
  },
);

it('mails a link once although the connection is cut that records it as sent', async () => {
  const database = await createTestDatabase();
  const proxy = await startTcpProxy(database.url);
  const test = await startTestApp({
    environment: { DATABASE_URL: proxy.url(database.url) },
    timeouts: { ...timeouts, statementSeconds: 1 },
  });
  const email = newEmail();
  proxy.cutNextAt('set "sent_at"');
  await signUp(test.app, signUpInput.parse({ email, password: testPassword }), testClient);
  const ended = () => test.app.sql`select id from pgboss.job where name = 'verification-mail' and state = 'completed'`;
  await expect.poll(async () => (await ended()).length).toBe(1);

  expect(test.sandbox.mailbox.messages(email)).toHaveLength(1);
  expect(await test.app.sql`select sent_at is null as unsent from verification_links`).toEqual([{ unsent: false }]);
  await test.close();
  await proxy.close();
  await database.drop();
});
