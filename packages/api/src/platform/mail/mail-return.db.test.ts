import net from 'node:net';
import { expect, it } from 'vitest';
import { signUp, signUpInput } from '../../auth/sign-up/sign-up.ts';
import { startTestApp } from '../../testing/app.ts';
import { newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { freePort } from '../../testing/free-ports.ts';

it('mails that wait for a late attempt leave soon after the return of the mail server', async () => {
  const port = await freePort();
  const test = await startTestApp({
    environment: { SMTP_URL: `smtp://127.0.0.1:${port}` },
    timeouts: { mailReturnSeconds: 0.5, jobPollSeconds: 0.5 },
  });
  const emails = Array.from({ length: 5 }, () => newEmail());
  for (const email of emails) await signUp(test.app, signUpInput.parse({ email, password: testPassword }), testClient);
  const retries = () => test.app.sql`select 1 from pgboss.job where name = 'verification-mail' and state = 'retry'`;
  await expect.poll(async () => (await retries()).length).toBe(emails.length);
  // As after an hour without a mail server.
  await test.app.sql`update pgboss.job set start_after = now() + interval '15 minutes' where state = 'retry'`;

  const { port: target } = new URL(test.sandbox.smtpUrl);
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target), '127.0.0.1');
    client.on('error', () => {}).pipe(upstream);
    upstream.on('error', () => {}).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  for (const email of emails) expect(await test.sandbox.mailbox.waitFor(email)).toBeDefined();
  await test.close();
  await new Promise((resolve) => server.close(resolve));
});
