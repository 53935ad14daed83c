import { setTimeout as pause } from 'node:timers/promises';
import { sql as tag } from 'drizzle-orm';
import type { Sql } from 'postgres';
import type { Timeouts } from '../config-timeouts.ts';
import { clientOf, type Transaction } from '../db/client.ts';
import type { DatabaseHealth } from '../db/health.ts';
import { daySeconds, hourSeconds } from '../durations.ts';
import { isDatabaseUnavailable } from '../errors.ts';
import { describeError, type Log } from '../log.ts';
import { steadyTime } from '../steady-time.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import { type JobKind, type JobKinds, type JobName, type Jobs, retriesWithin } from './registry.ts';

type Options = {
  sql: Sql;
  log: Log;
  metrics: Metrics;
  traces: Traces;
  databaseHealth: Pick<DatabaseHealth, 'failed'>;
  kinds: JobKinds;
  timeouts: Pick<Timeouts, 'jobPollSeconds' | 'jobRetrySeconds'>;
  work: boolean;
  /** Whether this process begins scheduled jobs at their times. */
  schedules: boolean;
  /** Whether this process creates or migrates the queue's own tables and settings, one process at a time. */
  setup: boolean;
};

/** How long a stop waits for the jobs that run. The queue retries those that it then leaves. */
const stopSeconds = 10;

/** A kind of job. The queue passes its data to the handler unread. */
type AnyKind = JobKind<never>;

/**
 * Opens the job queue in the service's own database. With `work` false the process only enqueues
 * jobs, as the admin commands do. After a failure nothing of the attempt is left.
 */
export async function openJobs(options: Options): Promise<Jobs> {
  const { sql, log, metrics, traces, databaseHealth, kinds, timeouts, work, schedules, setup } = options;
  const { PgBoss, systemClock } = await import('pg-boss');
  const boss = new PgBoss({
    db: { executeSql: (text, values) => execute(sql, text, values) },
    schedule: schedules,
    supervise: work,
    // A killed process sends no more heartbeats. The supervisor notices that and retries its job.
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    migrate: setup,
    clock: { ...systemClock, now: steadyTime },
    clockMonitorIntervalSeconds: 60,
  });
  boss.on('error', (error) => {
    databaseHealth.failed(error);
    if (!isDatabaseUnavailable(error)) log.warn('job queue', { error: describeError(error) });
  });
  const entries = Object.entries(kinds) as [JobName, AnyKind][];
  const mails = Object.keys(kinds).filter((name) => name.endsWith('-mail'));
  const workers = new Map<string, string>();
  try {
    await start();
  } catch (error) {
    // The caller may try again. If the database is unavailable, the stop fails after it ended the timers.
    await boss.stop({ graceful: false, close: false }).catch(() => {});
    throw error;
  }

  async function start() {
    await boss.start();
    if (setup) {
      const known = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
      for (const [name, kind] of entries) await open(name, kind, known.get(name));
    }
    await addSuccessRows();
    for (const [name, kind] of entries) {
      for (const outcome of ['ok', 'failed'] as const) {
        metrics.zero('gatehouse_job_duration_seconds', { kind: name, outcome });
      }
      if (work && kind.isHandledHere !== false) workers.set(name, await startWorker(name, kind));
    }
  }

  async function open(name: JobName, kind: AnyKind, known: object | undefined) {
    const settings = settingsOf(kind, timeouts);
    // Another release may have created it with other retries. Most starts have nothing to write.
    const current = new Map(Object.entries(known ?? {}));
    const isCurrent = Object.entries(settings).every(([setting, value]) => current.get(setting) === value);
    if (known !== undefined && !isCurrent) await boss.updateQueue(name, settings);
    if (known === undefined) await boss.createQueue(name, { policy: kind.policy ?? 'standard', ...settings });
    if (work && kind.isHandledHere !== false && kind.schedule !== undefined) {
      // After a time in which no node ran, each kind runs once for what it missed.
      await boss.schedule(name, kind.schedule, null, { missed: 'once' });
    }
  }

  /** Adds a time for each kind, so that one that never succeeds has an age. Kinds that are off here get none. */
  async function addSuccessRows() {
    if (!work) return;
    const kept = entries.filter(([, { recordsSuccess }]) => recordsSuccess);
    const recorded = kept.flatMap(([name, { isHandledHere }]) => (isHandledHere === false ? [] : [name]));
    await sql`
      with gone as (delete from job_successes where kind <> all(${recorded}::text[]))
      insert into job_successes (kind, at) select unnest(${recorded}::text[]), now() on conflict do nothing`;
  }

  async function recordSuccess(name: JobName) {
    await sql`
      insert into job_successes (kind, at) values (${name}, now()) on conflict (kind) do update set at = now()`;
  }

  function startWorker(name: JobName, kind: AnyKind) {
    const options = { pollingIntervalSeconds: timeouts.jobPollSeconds, localConcurrency: kind.concurrency ?? 1 };
    return boss.work(name, options, async ([job]) => {
      if (job === undefined) return;
      const started = performance.now();
      let outcome: 'ok' | 'failed' = 'ok';
      const parent = (job.data as TraceParent | null)?.traceparent ?? null;
      try {
        const work = { name: `job ${name}`, kind: 'consumer' as const, parent };
        await traces.run(work, () => kind.handler(job.data as never, job.id));
        if (kind.recordsSuccess) await recordSuccess(name);
        // More jobs may wait: without this, each job of a burst would wait for the next poll.
        wake(name);
      } catch (error) {
        outcome = 'failed';
        databaseHealth.failed(error);
        log.warn('job failed', { job: name, id: job.id, error: describeError(error) });
        throw new Error(`${name} failed`);
      } finally {
        metrics.time('gatehouse_job_duration_seconds', { kind: name, outcome }, (performance.now() - started) / 1000);
      }
    });
  }

  function wake(name: JobName) {
    const worker = workers.get(name);
    if (worker !== undefined) boss.notifyWorker(worker);
  }

  return {
    async send(tx, name, data, { key, afterSeconds } = {}) {
      if (kinds[name].isHandledHere === false) log.warn('A job waits for a node that can do it.', { job: name });
      const traceparent = traces.carried();
      await boss.send(name, traceparent === undefined ? data : { ...data, traceparent }, {
        db: { executeSql: (text, values) => executeIn(tx, text, values) },
        ...(key === undefined ? {} : { singletonKey: key }),
        ...(afterSeconds === undefined ? {} : { startAfter: afterSeconds }),
      });
    },
    wake,
    async dropMails(tx, of) {
      const theirs = of === undefined ? tag`` : tag`and ${isMailOf(of)}`;
      const dropped = await tx.execute(tag`
        delete from pgboss.job where name in ${mails} ${theirs} returning state`);
      return dropped.filter(({ state }) => state !== 'completed' && state !== 'failed').length;
    },
    async retryMails() {
      // The attempt that follows is one more, and takes none of those that the job has; after three days that ends, so
      // that a mail which makes the server hang up is given up, and counted so, at last.
      await sql`
        update pgboss.job set start_after = now(), retry_count = greatest(retry_count - 1, 0)
        where name = any(${mails}::text[]) and state = 'retry' and start_after > now()
          and created_on > now() - interval '3 days'`;
      for (const name of mails) wake(name as JobName);
    },
    async stop() {
      // Its own graceful stop looks only every half second whether the workers have ended.
      const ended = Promise.all(entries.map(([name]) => boss.offWork(name, { wait: true })));
      await Promise.race([ended, pause(stopSeconds * 1000, undefined, { ref: false })]);
      await boss.stop({ graceful: false, close: false });
    },
  };
}

/** Returns the settings of a kind's queue, as the database stores them. Times in seconds. */
function settingsOf({ retry, schedule }: AnyKind, { jobRetrySeconds }: Pick<Timeouts, 'jobRetrySeconds'>) {
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

function isMailOf({ userId, emails }: { userId: string; emails: string[] }) {
  const addresses = tag`array(select jsonb_array_elements_text(${JSON.stringify(emails)}::jsonb))`;
  return tag`(data ->> 'userId' = ${userId}
    or data ->> 'signUpId' in (select id::text from sign_ups where user_id = ${userId})
    or data ->> 'email' = any(${addresses})
      and not exists (select from users where email = data ->> 'email' and id <> ${userId}))`;
}

/** Tracing adds this to a job's data: the span below which the job's own span appears. */
type TraceParent = { traceparent?: string };

/**
 * Runs a statement for pg-boss. pg-boss sends texts of several commands; the result is that of the last command with
 * rows. Some of these texts are a transaction. The driver begins and ends it, so that a failure rolls it back.
 */
export async function execute(sql: Sql, text: string, values: unknown[] = []): Promise<{ rows: unknown[] }> {
  const [, body] = /^\s*BEGIN;(.*)COMMIT;?\s*$/is.exec(text) ?? [];
  const answer =
    body === undefined
      ? await sql.unsafe(text, values.map(parameter) as never[])
      : await sql.begin((tx) => tx.unsafe(body));
  const results: unknown[] = Array.isArray(answer[0]) ? answer : [answer];
  const rows = results.findLast((result) => Array.isArray(result) && result.length > 0) ?? [];
  return { rows: rows as unknown[] };
}

/** Runs a statement of pg-boss in a transaction. Its texts are few, so the database prepares them. */
async function executeIn(tx: Transaction, text: string, values: unknown[] = []): Promise<{ rows: unknown[] }> {
  const rows = await clientOf(tx).unsafe(text, values.map(parameter) as never[], { prepare: true });
  return { rows };
}

/** Converts a value as node-postgres does, for which pg-boss is written. */
function parameter(value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value;
}
