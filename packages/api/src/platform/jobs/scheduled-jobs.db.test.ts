import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../create-app.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { migrationsFolder } from '../../testing/database/database.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({
    timeouts: { statementSeconds: 1, backgroundStatementSeconds: 6, jobPollSeconds: 0.5, jobRetrySeconds: 60 },
  });
});
afterAll(() => test.close());

/** Runs a nightly job while another transaction holds its table. `wait` gets the job, and ends when the table is released. */
async function runBehindLock(
  wait: (job: () => Promise<Job | undefined>) => Promise<unknown>,
): Promise<Job | undefined> {
  const { app } = test;
  await app.sql`delete from pgboss.job where name = 'usage-days'`;
  const job = () => app.sql<Job[]>`select state, retry_count from pgboss.job where name = 'usage-days'`.then(first);
  await app.sql.begin(async (tx) => {
    await tx`lock table usage_days in exclusive mode`;
    await app.db.transaction((other) => app.jobs.send(other, 'usage-days', {}));
    await waitingForLocks(test, 1);
    await wait(job);
  });
  await expect.poll(async () => (await job())?.state).toMatch(/completed|retry/);
  return job();
}

type Job = { state: string; retry_count: number };
const first = ([row]: Job[]) => row;

it('a scheduled job may take longer than a request may', async () => {
  const twiceTheTimeOfRequests = () => new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await runBehindLock(twiceTheTimeOfRequests)).toEqual({ state: 'completed', retry_count: 0 });
});

it('a statement of a scheduled job also ends at a deadline', async () => {
  const untilItEnds = (job: () => Promise<Job | undefined>) =>
    expect.poll(async () => (await job())?.state).toMatch(/completed|retry/);
  expect(await runBehindLock(untilItEnds)).toMatchObject({ state: 'retry' });
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

it('each job that depends on time has a schedule, in UTC', async () => {
  const scheduled = await test.app.sql`select name, cron, timezone from pgboss.schedule order by name`;
  expect(scheduled.map(({ name, cron, timezone }) => `${name} ${cron} ${timezone}`)).toEqual([
    'changes-sweep */10 * * * * UTC',
    'encrypt-anew * * * * * UTC',
    'payment-compare 23 3 * * * UTC',
    'payment-due * * * * * UTC',
    'payment-plan-times * * * * * UTC',
    'payment-sweep 41 2 * * * UTC',
    'payment-undelivered */15 * * * * UTC',
    'sweep 17 * * * * UTC',
    'usage-days 1 0 * * * UTC',
    'usage-sweep */10 * * * * UTC',
  ]);
});

it('the service does once what came due while no node ran', async () => {
  const { app } = test;
  await app.sql`delete from pgboss.job where name = 'usage-days'`;
  await app.sql`update pgboss.version set cron_on = now() - interval '3 days'`;
  await app.sql`update pgboss.schedule set created_on = now() - interval '9 days'`;

  const service = await createApp({ config: app.config, migrations: migrationsFolder, work: true, log: app.log });
  const missed = () => app.sql`select name from pgboss.job where name = 'usage-days'`;
  await expect.poll(missed, { timeout: 30_000 }).toHaveLength(1);
  await service.close();
});
