import type { TransactionSql } from 'postgres';
import type { App } from '../../app.ts';
import { hashesWaiting } from '../security/password.ts';
import type { Exposition, Level } from './metrics.ts';

const timeoutMilliseconds = 2000;

/**
 * Returns the answer to GET /metrics. Waits at most two seconds for the database. While it is
 * unavailable or slow, the levels that are read from it are left out.
 */
export async function readMetrics(app: App): Promise<Exposition> {
  return app.metrics.expose([...readProcessLevels(app), ...app.tierCounts.read(), ...(await readServiceLevels(app))]);
}

function readProcessLevels({ config, load }: App): Level[] {
  return [
    { name: 'gatehouse_database_pool_size', labels: {}, value: config.databasePool },
    { name: 'gatehouse_database_statements', labels: {}, value: load.statements },
    { name: 'gatehouse_database_transactions', labels: { state: 'open' }, value: load.open },
    { name: 'gatehouse_database_transactions', labels: { state: 'waiting' }, value: load.waiting },
    { name: 'gatehouse_password_hashes_waiting', labels: {}, value: hashesWaiting() },
  ];
}

async function readServiceLevels({ sql, now, log }: App): Promise<Level[]> {
  try {
    const { rows, skew } = await withTimeout(
      // The server ends what takes too long. To cancel it from here took a connection of its own, whose failure nobody
      // could catch.
      sql.begin('read only', async (tx) => {
        await tx.unsafe(`set local statement_timeout = ${timeoutMilliseconds}`);
        return { rows: await queryLevels(tx), skew: await measureSkew(tx, now) };
      }),
    );
    const found = rows.map(
      ({ name, kind, value }) => ({ name, labels: kind === null ? {} : { kind }, value }) as Level,
    );
    return [
      { name: 'gatehouse_database_up', labels: {}, value: 1 },
      { name: 'gatehouse_database_clock_skew_seconds', labels: {}, value: skew },
      ...found,
    ];
  } catch (error) {
    log.warn('The database did not answer the queries of the metrics.', { error });
    return [{ name: 'gatehouse_database_up', labels: {}, value: 0 }];
  }
}

async function withTimeout<Result>(reading: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    const error = new Error(`no answer within ${timeoutMilliseconds} ms`);
    timer = setTimeout(() => reject(error), timeoutMilliseconds);
  });
  try {
    return await Promise.race([reading, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The clock of the database minus that of this process, in seconds, accurate to half the round trip. */
async function measureSkew(tx: TransactionSql, now: App['now']): Promise<number> {
  const before = now().getTime();
  const [row] = await tx<{ clock: number }[]>`select extract(epoch from clock_timestamp())::float8 as clock`;
  return (row?.clock ?? Number.NaN) - (before + now().getTime()) / 2000;
}

type LevelRow = { name: Level['name']; kind: string | null; value: number };

/** One prepared statement over partial indexes and small tables. Queues whose name begins with two underscores are internal to pg-boss. */
function queryLevels(tx: TransactionSql) {
  return tx<LevelRow[]>`
    with queues as (
      select queue.name as kind, queue.failed_count, count(job.id) as waiting, min(job.created_on) as oldest
      from pgboss.queue queue left join pgboss.job job on job.name = queue.name and job.state < 'active' and not job.blocked
      where left(queue.name, 2) <> '__' group by queue.name)
    select 'gatehouse_jobs_waiting' as name, kind, waiting::float8 as value from queues
    union all
    select 'gatehouse_jobs_oldest_waiting_seconds', kind, coalesce(extract(epoch from now() - oldest), 0)::float8 from queues
    union all
    select 'gatehouse_jobs_failed', kind, failed_count::float8 from queues
    union all
    select 'gatehouse_job_last_success_timestamp_seconds', kind, extract(epoch from at)::float8 from job_successes
    union all
    select 'gatehouse_database_size_bytes', null, pg_database_size(current_database())::float8
    union all
    select 'gatehouse_payment_events_flagged', null, count(*)::float8
      from payment_events where flagged and received_at > now() - interval '30 days'
    union all
    select 'gatehouse_subscriptions_to_sync', null, count(*)::float8 from payment_subscriptions where needs_sync
    union all
    select * from (
      select 'gatehouse_payment_last_event_timestamp_seconds', null, extract(epoch from max(received_at))::float8 as at
      from payment_events) last_event where at is not null
    union all
    select * from (
      select 'gatehouse_payment_prices_looked_up_timestamp_seconds', null, extract(epoch from min(looked_up_at))::float8 as at
      from payment_live_prices) look_up where at is not null
    union all
    select 'gatehouse_organisations_awaiting_approval', null, count(distinct organisations.id)::float8
      from organisations
      join memberships on memberships.organisation_id = organisations.id and memberships.role = 'owner'
      join users on users.id = memberships.user_id
      where organisations.approval = 'pending' and organisations.suspended_at is null and users.email_verified_at is not null`;
}
