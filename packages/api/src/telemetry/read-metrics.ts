import type { Sql } from 'postgres';
import type { App } from '../app.ts';
import { hashesWaiting } from '../security/password.ts';
import type { Exposition, Level } from './metrics.ts';

const queryTimeoutMilliseconds = 2000;

/**
 * Returns the answer to GET /metrics. Waits at most two seconds for the database. While it is
 * unavailable or slow, the levels that are read from it are left out.
 */
export async function readMetrics(app: App): Promise<Exposition> {
  return app.metrics.expose([...readProcessLevels(app), ...(await readServiceLevels(app))]);
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

async function readServiceLevels(app: App): Promise<Level[]> {
  try {
    const rows = await queryWithTimeout(app);
    const found = rows.map(({ name, job, value }) => ({ name, labels: job === null ? {} : { job }, value }) as Level);
    return [{ name: 'gatehouse_database_up', labels: {}, value: 1 }, ...found];
  } catch (error) {
    app.log.warn('The database did not answer to be measured.', { error });
    return [{ name: 'gatehouse_database_up', labels: {}, value: 0 }];
  }
}

async function queryWithTimeout(app: App): Promise<LevelRow[]> {
  const query = queryLevels(app.sql);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      query.cancel();
      reject(new Error(`no answer within ${queryTimeoutMilliseconds} ms`));
    }, queryTimeoutMilliseconds);
  });
  try {
    return await Promise.race([query, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

type LevelRow = { name: Level['name']; job: string | null; value: number };

/** One prepared statement over partial indexes and small tables. Queues whose name begins with two underscores are internal to pg-boss. */
function queryLevels(sql: Sql) {
  return sql<LevelRow[]>`
    select 'gatehouse_jobs_waiting' as name, queue.name as job, count(job.id)::float8 as value
      from pgboss.queue queue left join pgboss.job job on job.name = queue.name and job.state < 'active' and not job.blocked
      where left(queue.name, 2) <> '__' group by queue.name
    union all
    select 'gatehouse_jobs_oldest_waiting_seconds', name, extract(epoch from now() - min(created_on))::float8
      from pgboss.job where state < 'active' and not blocked and left(name, 2) <> '__' group by name
    union all
    select 'gatehouse_jobs_failed', name, failed_count::float8 from pgboss.queue where left(name, 2) <> '__'
    union all
    select 'gatehouse_subscriptions_to_sync', null, count(*)::float8 from payment_subscriptions where needs_sync
    union all
    select * from (
      select 'gatehouse_payment_last_event_timestamp_seconds', null, extract(epoch from max(received_at))::float8 as at
      from payment_events) last_event where at is not null
    union all
    select 'gatehouse_organisations_awaiting_approval', null, count(distinct organisations.id)::float8
      from organisations
      join memberships on memberships.organisation_id = organisations.id and memberships.role = 'owner'
      join users on users.id = memberships.user_id
      where organisations.approval = 'pending' and organisations.suspended_at is null and users.email_verified_at is not null`;
}
