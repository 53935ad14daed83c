import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { daySeconds } from '../durations.ts';
import { isDatabaseUnavailable } from '../errors.ts';
import type { JobKind } from '../jobs/registry.ts';
import { isMailServerAway } from '../providers/mailer.ts';

/** Returns the kind of a job that mails something. `send` also receives the job's id, which is stable across retries. */
export function mailJob<Data>(app: App, send: (app: App, data: Data, jobId: string) => Promise<void>): JobKind<Data> {
  return {
    async handler(data, id) {
      try {
        await send(app, data, id);
        pauses.delete(app.jobs);
      } catch (error) {
        if (isMailServerAway(error)) awaitReturn(app);
        throw error;
      }
    },
    // A mail server may be unavailable over a weekend.
    retry: { forSeconds: 3 * daySeconds, longestPauseSeconds },
    isHandledHere: app.mail.on,
    concurrency: 2,
  };
}

const waiting = new WeakSet<App['jobs']>();

/** The pause before the next look, in seconds; absent since the last mail that was sent. */
const pauses = new WeakMap<App['jobs'], number>();
const longestPauseSeconds = 900;

/**
 * Looks every 15 s whether the mail server is back, and then makes all mails due that wait: by then the pauses between
 * their attempts may have grown to a quarter of an hour, and whoever signs up waits for the link. One look at a time. A
 * server that is back and takes no mail is looked at after a pause that doubles.
 */
function awaitReturn({ mail, jobs, config, log }: App): void {
  if (waiting.has(jobs)) return;
  waiting.add(jobs);
  const seconds = pauses.get(jobs) ?? config.timeouts.mailReturnSeconds;
  pauses.set(jobs, Math.min(seconds * 2, longestPauseSeconds));
  setTimeout(look, seconds * 1000).unref();

  async function look() {
    try {
      await mail.check();
      waiting.delete(jobs);
      await jobs.retryMails();
      log.info('The mail server is back.');
    } catch (error) {
      log.debug('The mail server is away.', { error });
      if (waiting.has(jobs)) setTimeout(look, config.timeouts.mailReturnSeconds * 1000).unref();
    }
  }
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
