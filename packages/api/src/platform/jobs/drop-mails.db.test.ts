import { expect, it } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { timeouts } from '../config-timeouts.ts';
import { openDatabase } from '../db/client.ts';
import { newId } from '../db/id.ts';
import { silentLog } from '../log.ts';
import { noMetrics } from '../telemetry/metrics.ts';
import { noTraces } from '../telemetry/traces.ts';
import { openJobs } from './queue.ts';
import type { JobKinds, JobName } from './registry.ts';

it('the mails of a user are dropped whatever their kind, and no other job', async () => {
  const database = await createTestDatabase();
  const queue = openDatabase({ url: database.url, pool: 2, prepare: true });
  const { sql, db, close } = openDatabase({ url: database.url, pool: 1, prepare: true });
  const kind = { handler: async () => {}, retry: { forSeconds: 0, longestPauseSeconds: 0 } };
  const kinds = { 'verification-mail': kind, 'notice-mail': kind, 'payment-contact': kind } as unknown as JobKinds;
  const options = {
    sql: queue.sql,
    kinds,
    timeouts,
    log: silentLog,
    metrics: noMetrics,
    traces: noTraces,
    databaseHealth: { failed() {} },
    work: false,
    schedules: false,
  };
  const jobs = await openJobs({ ...options, setup: true });
  const [user, other] = [newId(new Date()), newId(new Date())];
  const email = 'user@company.example';

  await db.transaction(async (tx) => {
    await jobs.send(tx, 'verification-mail', { email });
    for (const userId of [user, other]) await jobs.send(tx, 'notice-mail' as JobName, { userId });
    await jobs.send(tx, 'payment-contact', { organisationId: user, userId: user } as { organisationId: string });
    expect(await jobs.dropMails(tx, { userId: user, emails: [email] })).toBe(2);
  });
  expect(await sql`select name, data ->> 'userId' as user from pgboss.job order by name`).toEqual([
    { name: 'notice-mail', user: other },
    { name: 'payment-contact', user },
  ]);

  await jobs.stop();
  await Promise.all([queue.close(), close()]);
  await database.drop();
});
