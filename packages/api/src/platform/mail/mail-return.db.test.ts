import net, { type AddressInfo } from 'node:net';
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

it('a server that is there and takes no mail is asked after pauses that grow, and a mail keeps its attempts', async () => {
  const asked: number[] = [];
  const server = net.createServer((client) => {
    client.on('error', () => {}).write('220 mail.test\r\n');
    client.on('data', (sent) => {
      if (String(sent).startsWith('QUIT')) return void client.end('221 Bye\r\n');
      const isMail = String(sent).startsWith('MAIL');
      if (isMail) asked.push(Date.now());
      client.write(isMail ? '421 Too many messages\r\n' : '250 OK\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const test = await startTestApp({
    environment: { SMTP_URL: `smtp://127.0.0.1:${port}` },
    timeouts: { mailReturnSeconds: 1, jobPollSeconds: 0.5, jobRetrySeconds: 100 },
  });
  await signUp(test.app, signUpInput.parse({ email: newEmail(), password: testPassword }), testClient);
  // At once, and 1, 2 and 4 s after the one before.
  await expect.poll(() => asked.length, { timeout: 30_000 }).toBe(4);
  const between = (at: number) => (asked[at] ?? 0) - (asked[at - 1] ?? 0);
  expect(between(3)).toBeGreaterThanOrEqual(4000);
  await expect
    .poll(() => test.app.sql`select state, retry_count::int as count from pgboss.job where name = 'verification-mail'`)
    .toEqual([{ state: 'retry', count: 1 }]);

  const due = () => test.app.sql`select 1 from pgboss.job where name = 'verification-mail' and start_after <= now()`;
  await test.app.sql`update pgboss.job set created_on = now() - interval '4 days' where name = 'verification-mail'`;
  await test.app.jobs.retryMails();
  expect(await due()).toHaveLength(0);
  await test.close();
  await new Promise((resolve) => server.close(resolve));
});
