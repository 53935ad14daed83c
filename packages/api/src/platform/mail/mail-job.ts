import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { daySeconds } from '../durations.ts';
import { isDatabaseUnavailable } from '../errors.ts';
import type { JobKind } from '../jobs/registry.ts';

/** Returns the kind of a job that mails something. `send` also receives the job's id, which is stable across retries. */
export function mailJob<Data>(app: App, send: (app: App, data: Data, jobId: string) => Promise<void>): JobKind<Data> {
  return {
    handler: (data, id) => send(app, data, id),
    // A mail server may be unavailable over a weekend.
    retry: { forSeconds: 3 * daySeconds, longestPauseSeconds: 900 },
    isHandledHere: app.mail.on,
    concurrency: 2,
  };
}

/** Together 15 s, in which a failover ends, besides the time that each attempt waits for a silent database. */
const pauseMilliseconds = [0, 250, 500, ...Array<number>(14).fill(1000)];

/**
 * Runs an idempotent write that records what was done outside of the database, such as a sent mail, and runs it again
 * while the database is unavailable: if the record were lost, it would be done twice. The driver replaces a
 * connection that failed, so each attempt gets another one. Another node runs a job again that has not reported for
 * ten seconds, so where only this node loses the database for longer, the work is still done twice.
 *
 * @throws the last attempt's error, or at once one that is not due to an unavailable database.
 */
export async function repeatWrite<Result>(write: () => Promise<Result>): Promise<Result> {
  for (const milliseconds of pauseMilliseconds) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
    }
    await pause(milliseconds);
  }
  return write();
}
