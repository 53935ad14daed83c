import type { PgBoss } from 'pg-boss';
import about from 'pg-boss/package.json' with { type: 'json' };
import type { Timeouts } from '../config-timeouts.ts';
import { daySeconds, hourSeconds } from '../durations.ts';
import { codeOf } from '../errors.ts';
import type { JobKind, JobKinds } from './registry.ts';
import { retriesWithin } from './retry.ts';

/** A kind of job. The queue passes its data to the handler unread. */
export type AnyKind = JobKind<never>;

/** Returns the settings of a kind's queue, as the database stores them. Times in seconds. */
export function settingsOf({ retry, schedule }: AnyKind, { jobRetrySeconds }: Pick<Timeouts, 'jobRetrySeconds'>) {
  return {
    retryLimit: retriesWithin(retry, jobRetrySeconds),
    retryDelay: jobRetrySeconds,
    retryBackoff: true,
    heartbeatSeconds: 10,
    retryDelayMax: Math.max(1, retry.longestPauseSeconds),
    deleteAfterSeconds: daySeconds,
    // A scheduled job may process any number of rows. Its heartbeat shows whether it runs.
    expireInSeconds: schedule === undefined ? 900 : 6 * hourSeconds,
  };
}

/**
 * Whether the queue's tables are those of this release and hold every queue and schedule, so that a start has
 * nothing to create or change.
 */
export async function isSetUp(
  boss: PgBoss,
  kinds: JobKinds,
  timeouts: Pick<Timeouts, 'jobRetrySeconds'>,
): Promise<boolean> {
  try {
    const [version, queues, schedules, steps] = await Promise.all([
      boss.schemaVersion(),
      boss.getQueues(),
      boss.getSchedules(),
      boss.getBamStatus(),
    ]);
    const [knownQueues, knownTimes] = [byName(queues), byName(schedules)];
    return (
      // With a newer version, which a newer release has written, only a set-up accepts the tables.
      version === about.pgboss.schema &&
      // Steps of an upgrade of the tables that run without a lock.
      steps.every(({ status }) => status === 'completed') &&
      (Object.entries(kinds) as [string, AnyKind][]).every(
        ([name, kind]) =>
          hasSettings(knownQueues.get(name), settingsOf(kind, timeouts)) &&
          (kind.schedule === undefined ||
            kind.isHandledHere === false ||
            hasSettings(knownTimes.get(name), { cron: kind.schedule, timezone: 'UTC' })),
      )
    );
  } catch (error) {
    if (missing.has(codeOf(error) ?? '')) return false;
    throw error;
  }
}

/** SQLSTATE of a table, a column, a schema or a function that does not exist. */
const missing = new Set(['42P01', '42703', '3F000', '42883']);

function byName<Row extends { name: string }>(rows: Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.name, row]));
}

/** Whether a row has these settings, of those named. */
export function hasSettings(row: object | undefined, settings: Record<string, unknown>): boolean {
  return row !== undefined && Object.entries(settings).every(([name, value]) => Reflect.get(row, name) === value);
}
