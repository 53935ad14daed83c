import { expect, it } from 'vitest';
import { createApp } from '../../create-app.ts';
import { createTestDatabase, migrationsFolder } from '../../testing/database/database.ts';
import { parseConfig } from '../config.ts';
import { timeouts } from '../config-timeouts.ts';
import { openDatabase } from '../db/client.ts';
import { noMetrics } from '../telemetry/metrics.ts';
import { noTraces } from '../telemetry/traces.ts';
import { openJobs } from './queue.ts';
import type { JobKinds } from './registry.ts';

function collectingLog() {
  const logged: unknown[] = [];
  const note = (message: string, fields?: object) => void logged.push([message, fields]);
  return { logged, log: { debug: note, info: note, warn: note, error: note } };
}

it('the creation of the queue’s tables may take longer than a statement of a request or of the queue', async () => {
  const database = await createTestDatabase();
  const { sql: other, close } = openDatabase({ url: database.url, pool: 1, prepare: true });
  await other`drop schema pgboss cascade`;
  let release = () => {};
  const held = other.begin(async (tx) => {
    await tx`create schema pgboss`;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    throw new Error('rolled back');
  });
  const { log, logged } = collectingLog();
  const config = parseConfig({ DATABASE_URL: database.url, SMTP_URL: 'smtp://localhost:1' });
  const short = { statementSeconds: 1, transactionSeconds: 1.5 };

  const started = createApp({
    config: { ...config, timeouts: { ...config.timeouts, ...short } },
    migrations: migrationsFolder,
    work: true,
    log,
  });
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  release();
  await held.catch(() => {});
  await (await started).close();
  expect(logged).toEqual([]);
  await close();
  await database.drop();
});

it('a start that finds schedules or tables of another release succeeds', async () => {
  const database = await createTestDatabase();
  const { sql: other, close } = openDatabase({ url: database.url, pool: 2, prepare: true });
  const { log } = collectingLog();
  const config = parseConfig({ DATABASE_URL: database.url, SMTP_URL: 'smtp://localhost:1' });
  const start = () => createApp({ config, migrations: migrationsFolder, work: true, log });
  await (await start()).close();

  await other`update pgboss.schedule set cron = '1 1 1 1 *' where name = 'sweep'`;
  await (await start()).close();
  expect(await other`select cron from pgboss.schedule where name = 'sweep'`).toEqual([{ cron: '17 * * * *' }]);

  // The tables of a newer release, before a rollback.
  await other`update pgboss.version set version = version + 1`;
  await (await start()).close();
  await close();
  await database.drop();
});

it('after a start that failed in its middle, no worker of that attempt takes jobs', async () => {
  const database = await createTestDatabase();
  const { sql, db, close } = openDatabase({ url: database.url, pool: 1, prepare: true });
  const handled: string[] = [];
  const retry = { forSeconds: 0, longestPauseSeconds: 0 };
  const kinds = {
    'verification-mail': { handler: async (_: object, id: string) => void handled.push(id), retry },
    // pg-boss refuses this worker.
    sweep: { handler: async () => {}, retry, concurrency: 0 },
  } as unknown as JobKinds;
  const options = {
    sql,
    log: collectingLog().log,
    metrics: noMetrics,
    traces: noTraces,
    databaseHealth: { failed() {} },
    kinds,
    timeouts: { ...timeouts, jobPollSeconds: 0.5 },
    setup: false,
  };
  await expect(openJobs({ ...options, work: true, schedules: false })).rejects.toThrow('localConcurrency');

  const jobs = await openJobs({ ...options, work: false, schedules: false });
  await db.transaction((tx) => jobs.send(tx, 'verification-mail', { email: 'someone@company.example' }));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(handled).toEqual([]);
  await jobs.stop();
  await close();
  await database.drop();
});
