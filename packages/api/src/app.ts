import type { Sql } from 'postgres';
import { refuseDemoAccounts } from './accounts/demo-accounts.ts';
import { sendVerification, type VerificationJob } from './accounts/send-verification.ts';
import { sweep } from './accounts/sweep.ts';
import { billingJobs } from './billing/jobs.ts';
import { warnOfOtherMode } from './billing/other-mode.ts';
import { loadPlans, type Plans } from './billing/plans.ts';
import type { Config } from './config.ts';
import { type Database, openDatabase } from './db/client.ts';
import { migrate } from './db/migrate.ts';
import { mustAnswer } from './db/must-answer.ts';
import { oneAtATime } from './db/one-at-a-time.ts';
import { explainDatabaseRefusal, isDatabaseAway } from './errors.ts';
import { type JobKind, type Jobs, openJobs } from './jobs.ts';
import { createLog, type Log } from './log.ts';
import { createIdentity, type Identity } from './providers/identity.ts';
import { createMailer, type Mailer } from './providers/mailer.ts';
import { createPayment, type Payment } from './providers/payment.ts';
import { createThrottle, type Throttle } from './security/throttle.ts';
import { watchCalls } from './watch/calls.ts';
import type { Metrics } from './watch/metrics.ts';
import { nothingWatched, openWatching } from './watch/open-watching.ts';
import type { PoolLoad } from './watch/statements.ts';
import type { Traces } from './watch/traces.ts';

/** Everything that the use cases work with. A feature that is off is null. */
export type App = {
  config: Config;
  db: Database;
  sql: Sql;
  mail: Mailer;
  idp: Identity | null;
  payment: Payment | null;
  plans: Plans;
  jobs: Jobs;
  throttle: Throttle;
  log: Log;
  metrics: Metrics;
  traces: Traces;
  /** What the pool is busy with, counted where somebody watches. */
  load: PoolLoad;
  now: () => Date;
  close: () => Promise<void>;
};

type Options = {
  config: Config;
  /** The folder of the migrations: a bundle cannot find it by itself. */
  migrations: string;
  /** Whether this process works on jobs, or only enqueues them. */
  work: boolean;
  /** Opens also while the database cannot be used: for what looks at everything else. */
  withoutDatabase?: boolean;
  log?: Log;
  now?: () => Date;
};

/**
 * Opens the database, migrates it and starts the job queue. Whoever works waits for a
 * database that is away. Any other failure is thrown: the start ends with its sentence.
 */
export async function createApp({
  config,
  migrations,
  work,
  withoutDatabase = false,
  log = createLog(config.log),
  now,
}: Options): Promise<App> {
  if (config.databaseUrl === null) throw new Error('DATABASE_URL is unset and no embedded database was started.');

  const connect = { url: config.databaseUrl, prepare: config.databasePrepare };
  // The command line is over before anybody could ask.
  const watching = work ? await openWatching(config, log) : nothingWatched();
  const { metrics, traces, load } = watching;
  const { db, sql, close } = openDatabase({ ...connect, pool: config.databasePool, ...watching.database });
  const queue = openDatabase({ ...connect, pool: 1 });
  const app: App = {
    config,
    db,
    sql,
    mail: createMailer(config, log, watchCalls(watching, 'mail')),
    idp: config.idp && createIdentity(config.idp, watchCalls(watching, 'identity')),
    payment: config.payment && createPayment(config.payment, watchCalls(watching, 'payment')),
    plans: await loadPlans(config.plansFile),
    jobs: unopened,
    throttle: createThrottle(config, sql, (rule) => metrics.count('gatehouse_rate_limit_refusals_total', { rule })),
    log,
    metrics,
    traces,
    load,
    now: now ?? (() => new Date()),
    async close() {
      await app.jobs.stop();
      app.mail.close();
      await Promise.all([close(), queue.close(), traces.close()]);
    },
  };

  if (work) for (const warning of config.warnings) log.warn(warning);
  if (work && !app.mail.on) log.warn('SMTP_URL is unset: no mail leaves.');
  if (work && !config.rateLimits) {
    log.warn('RATE_LIMITS is off: passwords can be guessed without limit. It is meant for measurements alone.');
  }
  const open: typeof untilThere = work ? untilThere : (_, attempt) => attempt();
  try {
    if (!work) await mustAnswer(sql);
    await open(log, () => migrate(sql, migrations));
    if (work) await open(log, () => refuseDemoAccounts(app));
    if (work) await open(log, () => warnOfOtherMode(app));
    app.jobs = await open(log, () =>
      oneAtATime(sql, () => openJobs({ sql: queue.sql, log, metrics, traces, kinds: jobKinds(app), work })),
    );
  } catch (error) {
    if (!withoutDatabase) {
      await app.close();
      const refused = explainDatabaseRefusal(error);
      throw refused === null ? error : new Error(refused, { cause: error });
    }
  }
  return app;
}

const unopened: Jobs = {
  send: () => Promise.reject(new Error('The job queue is not open yet.')),
  wake: () => {},
  stop: () => Promise.resolve(),
};

/** Every kind of job, by name. */
function jobKinds(app: App): Record<string, JobKind> {
  return {
    'verification-mail': {
      handler: (data: VerificationJob, id) => sendVerification(app, data, id),
      retryLimit: 30,
      retryDelayMax: 300,
      concurrency: 2,
    },
    sweep: { handler: () => sweep(app), schedule: '17 * * * *', policy: 'stately' },
    ...billingJobs(app),
  };
}

async function untilThere<Result>(log: Log, attempt: () => Promise<Result>): Promise<Result> {
  for (let pause = 250; ; pause = Math.min(pause * 2, 5000)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      log.warn('The database does not answer; trying again.', { pauseMilliseconds: pause, error });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
