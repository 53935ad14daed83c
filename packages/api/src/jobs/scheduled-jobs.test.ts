import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { waitingForLocks } from '../testing/database/waiting-for-locks.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({
    timeouts: { statementSeconds: 1, scheduledStatementSeconds: 4, jobPollSeconds: 0.5, jobRetrySeconds: 60 },
  });
});
afterAll(() => test.close());

/** Runs a nightly job while another transaction holds its table, and returns how the job ended. */
async function runBehindLock(seconds: number) {
  const { app } = test;
  await app.sql`delete from pgboss.job where name = 'usage-days'`;
  const held = app.sql.begin(async (tx) => {
    await tx`lock table usage_days in exclusive mode`;
    await app.db.transaction((other) => app.jobs.send(other, 'usage-days', {}));
    for (let waited = 0; waited < seconds; waited += 0.5) await tx`select pg_sleep(0.5)`;
  });
  const jobs = () => app.sql`select state, retry_count from pgboss.job where name = 'usage-days'`.then(([job]) => job);
  await expect.poll(async () => (await jobs())?.state, { timeout: 60_000 }).toMatch(/completed|retry/);
  await held;
  return jobs();
}

it('a scheduled job may take longer than a request may', async () => {
  expect(await runBehindLock(2.5)).toEqual({ state: 'completed', retry_count: 0 });
});

it('a statement of a scheduled job also ends at a deadline', async () => {
  expect(await runBehindLock(6)).toMatchObject({ state: 'retry' });
});

it('scheduled jobs leave all connections of the pool to requests', async () => {
  const { app } = test;
  await app.sql`delete from pgboss.job where name = 'usage-days'`;
  const held = app.sql.begin(async (tx) => {
    await tx`lock table usage_days in exclusive mode`;
    await app.db.transaction((other) => app.jobs.send(other, 'usage-days', {}));
    await waitingForLocks(test, 1);
    const others = app.config.databasePool - 1;
    let begun = 0;
    const { promise: allBegun, resolve: haveBegun } = Promise.withResolvers<void>();
    // Each keeps its connection until all of them have one.
    const requests = Array.from({ length: others }, () =>
      app.sql.begin(async (request) => {
        await request`select 1`;
        begun += 1;
        if (begun === others) haveBegun();
        await allBegun;
      }),
    );
    await Promise.all(requests);
  });
  await held;
});
