import { sql as tag } from 'drizzle-orm';
import { fromDrizzle, PgBoss } from 'pg-boss';
import type { Sql } from 'postgres';
import { describeError, type Log } from '../log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { JobKind, JobKinds, JobName, Jobs } from './registry.ts';

type Options = {
  sql: Sql;
  log: Log;
  metrics: Metrics;
  traces: Traces;
  kinds: JobKinds;
  work: boolean;
};

/**
 * The job queue, in the service's own database. With `work` false it only enqueues,
 * as the operator's command line does.
 */
export async function openJobs({ sql, log, metrics, traces, kinds, work }: Options): Promise<Jobs> {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => execute(sql, text, values) },
    schedule: work,
    supervise: work,
    // A job whose process was killed is noticed by its silence, and begun anew.
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    migrate: true,
  });
  boss.on('error', (error) => log.warn('job queue', { error: describeError(error) }));
  await boss.start();

  const entries = Object.entries(kinds) as [JobName, AnyKind][];
  for (const [name, kind] of entries) await open(name, kind);
  const workers = new Map<string, string>();
  if (work) for (const [name, kind] of entries) workers.set(name, await startWorker(name, kind));

  async function open(name: JobName, kind: AnyKind) {
    await boss.createQueue(name, {
      policy: kind.policy ?? 'standard',
      retryLimit: kind.retryLimit ?? 3,
      retryDelay: kind.retryDelay ?? 2,
      retryBackoff: true,
      heartbeatSeconds: 10,
      retryDelayMax: kind.retryDelayMax ?? 300,
      deleteAfterSeconds: 86_400,
    });
    if (work && kind.schedule !== undefined) await boss.schedule(name, kind.schedule);
  }

  function startWorker(name: JobName, kind: AnyKind) {
    return boss.work(name, { pollingIntervalSeconds: 2, localConcurrency: kind.concurrency ?? 1 }, async ([job]) => {
      if (job === undefined) return;
      const started = performance.now();
      let outcome = 'ok';
      const parent = (job.data as Carried | null)?.traceparent ?? null;
      try {
        const work = { name: `job ${name}`, kind: 'consumer' as const, parent };
        await traces.run(work, () => kind.handler(job.data as never, job.id));
        // There may be more: a burst must not take a poll for each.
        wake(name);
      } catch (error) {
        outcome = 'failed';
        log.warn('job failed', { job: name, id: job.id, error: describeError(error) });
        throw new Error(`${name} failed`);
      } finally {
        metrics.time('gatehouse_job_duration_seconds', { job: name, outcome }, (performance.now() - started) / 1000);
      }
    });
  }

  function wake(name: JobName) {
    const worker = workers.get(name);
    if (worker !== undefined) boss.notifyWorker(worker);
  }

  return {
    async send(tx, name, data, { key, afterSeconds } = {}) {
      const traceparent = traces.carried();
      await boss.send(name, traceparent === undefined ? data : { ...data, traceparent }, {
        db: fromDrizzle(tx, tag),
        ...(key === undefined ? {} : { singletonKey: key }),
        ...(afterSeconds === undefined ? {} : { startAfter: afterSeconds }),
      });
    },
    wake,
    async stop() {
      await boss.stop({ graceful: true, timeout: 10_000, close: false });
    },
  };
}

/** A kind of job whose data the queue passes on without reading them. */
type AnyKind = JobKind<never>;

/** Below what the job's work is shown in a trace: beside its data, where traces are on. */
type Carried = { traceparent?: string };

/**
 * pg-boss speaks in statements of several commands; the answer is the one that has rows.
 * `sql` has one connection: what failed between BEGIN and COMMIT would leave it refusing
 * everything from then on.
 */
export async function execute(sql: Sql, text: string, values: unknown[] = []): Promise<{ rows: unknown[] }> {
  const answer = await sql.unsafe(text, values.map(parameter) as never[]).catch(async (error: unknown) => {
    if (/\bBEGIN\b/.test(text)) await sql.unsafe('rollback').catch(() => {});
    throw error;
  });
  const results: unknown[] = Array.isArray(answer[0]) ? answer : [answer];
  const rows = results.findLast((result) => Array.isArray(result) && result.length > 0) ?? [];
  return { rows: rows as unknown[] };
}

/** Values as node-postgres would send them, which is what pg-boss is written for. */
function parameter(value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value;
}
