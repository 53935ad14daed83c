import { afterAll, beforeAll, expect, it } from 'vitest';
import type { App } from '../../app.ts';
import { signUp, signUpInput } from '../../auth/sign-up/sign-up.ts';
import { createApp } from '../../create-app.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { migrationsFolder } from '../../testing/database/database.ts';
import { newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { silentLog } from '../log.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({
    environment: { SMTP_URL: '', PAYMENT_SECRET_KEY: '' },
    timeouts: { jobPollSeconds: 0.5 },
  });
});
afterAll(() => test.close());

/** Starts a second node on the same database. */
function startNode(changes: Partial<App['config']>): Promise<App> {
  return createApp({
    config: { ...test.app.config, ...changes },
    migrations: migrationsFolder,
    work: true,
    schedules: false,
    log: silentLog,
  });
}

it('a node without a mail server leaves the mails to a node that has one', async () => {
  const email = newEmail();
  await signUp(test.app, signUpInput.parse({ email, password: testPassword }), testClient);
  await expect
    .poll(() => test.logged.map(({ message }) => message))
    .toContain('A job waits for a node that can do it.');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const jobs = await test.app.sql`select state from pgboss.job where name = 'verification-mail'`;
  expect(jobs).toEqual([{ state: 'created' }]);

  const node = await startNode({ smtpUrl: test.sandbox.smtpUrl });
  expect(await test.sandbox.mailbox.waitFor(email)).toBeDefined();
  await node.close();
});

it('a node without a payment provider leaves the syncs to a node that has one', async () => {
  await test.app.db.transaction((tx) => test.app.jobs.send(tx, 'payment-sync', { subscriptionId: 'sub_1' }));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const jobs = await test.app.sql`select state from pgboss.job where name = 'payment-sync'`;
  expect(jobs).toEqual([{ state: 'created' }]);
});

it('a kind of job that is off has no time of success, and gets one when it is turned on', async () => {
  const kinds = async () => (await test.app.sql`select kind from job_successes order by kind`).map(({ kind }) => kind);
  expect(await kinds()).toEqual(['payment-plan-times', 'payment-sweep', 'sweep']);
  const key = { secretKey: 'sk_test_sandbox', apiUrl: test.sandbox.payment.apiUrl };
  await (await startNode({ payment: { ...key } as App['config']['payment'] })).close();
  expect(await kinds()).toContain('payment-compare');
  await (await startNode({})).close();
  expect(await kinds()).toEqual(['payment-plan-times', 'payment-sweep', 'sweep']);
});

it('the queue of an earlier release gets the retries of this one: a mail is tried for three days', async () => {
  await test.app.sql`update pgboss.queue set retry_limit = 3, retry_delay_max = 300 where name = 'verification-mail'`;
  await (await startNode({})).close();
  const [queue] = await test.app.sql`
    select retry_limit, retry_delay_max from pgboss.queue where name = 'verification-mail'`;
  expect(queue?.retry_delay_max).toBe(900);
  expect((queue?.retry_limit as number) * 900).toBeGreaterThan(3 * 86_400);
});
