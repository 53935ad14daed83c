import { createTestDatabase, migrationsFolder } from '@gatehouse/api/testing/database/database';
import { waitingForLocks } from '@gatehouse/api/testing/database/waiting-for-locks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openApp } from './app.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase();
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('SMTP_URL', 'smtp://localhost:1');
  vi.stubEnv('GATEHOUSE_MIGRATIONS', migrationsFolder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await database.drop();
});

it('from SIGTERM on no job is started, the running ones end while requests drain, and requests enqueue jobs', async () => {
  const before = process.listeners('SIGTERM');
  const app = await openApp();
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
    // Not those of the test runner.
    for (const listener of process.listeners('SIGTERM')) if (!before.includes(listener)) listener('SIGTERM');
    await enqueue();
  });
  await expect.poll(states).toEqual(['completed', 'created']);
  await new Promise((resolve) => setTimeout(resolve, app.config.timeouts.jobPollSeconds * 1000 + 500));
  expect(await states()).toEqual(['completed', 'created']);

  await Promise.all(process.listeners('sveltekit:shutdown' as NodeJS.Signals).map((close) => close('SIGTERM')));
});
