import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { waitingForLocks } from '@gatehouse/api/testing/database/waiting-for-locks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { beginShutdown } from './application.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ work: true });
});
afterAll(() => test.close());

it('from SIGTERM on no job is started, the running ones end while requests drain, and requests enqueue jobs', async () => {
  const { app } = test;
  const enqueue = async () => {
    await app.db.transaction((tx) => app.jobs.send(tx, 'usage-days', {}));
    app.jobs.wake('usage-days');
  };
  const states = async () => {
    const jobs = await app.sql<{ state: string }[]>`
      select state from pgboss.job where name = 'usage-days' order by created_on`;
    return jobs.map(({ state }) => state);
  };
  await app.sql`delete from pgboss.job where name = 'usage-days'`;

  await app.sql.begin(async (tx) => {
    await tx`lock table usage_days in exclusive mode`;
    await enqueue();
    await waitingForLocks({ app }, 1);
    beginShutdown(app);
    await enqueue();
  });
  await expect.poll(states).toEqual(['completed', 'created']);
  await new Promise((resolve) => setTimeout(resolve, app.config.timeouts.jobPollSeconds * 1000 + 500));
  expect(await states()).toEqual(['completed', 'created']);
});
