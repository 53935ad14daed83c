import type { App } from './app.ts';
import { digestOfRules } from './billing/entitlement/decide-plan.ts';
import { claimMode } from './billing/mode.ts';
import { warnOfMissingTiers } from './billing/plans/missing-tiers.ts';
import { loadPlans, paidTiers, unusedPriceWarnings } from './billing/plans/plans.ts';
import { createPriceCache } from './billing/prices/price-cache.ts';
import { syncsOf } from './billing/sync/jobs.ts';
import { createSyncQueue, noSyncs } from './billing/sync/sync-queue.ts';
import { createChangeSignal } from './changes/signal.ts';
import { jobKinds } from './job-kinds.ts';
import { refuseDemoAccounts } from './operators/deployment/demo-accounts.ts';
import { type Config, parseConfig } from './platform/config.ts';
import { pingDatabase, watchHealth } from './platform/db/health.ts';
import { checkSchemaAge, explainPending, migrate, ownMigrations, readSchemaState } from './platform/db/migrate.ts';
import { explainRefusedTls, openPools } from './platform/db/open-pools.ts';
import { explainDatabaseFailure, explainDatabaseRefusal, isDatabaseUnavailable } from './platform/errors.ts';
import { openJobs } from './platform/jobs/queue.ts';
import type { Jobs } from './platform/jobs/registry.ts';
import { createLog, createRefusalLog, type Log, silentLog } from './platform/log.ts';
import { createBreachedPasswords } from './platform/providers/breached-passwords.ts';
import { createIdentityProvider } from './platform/providers/identity.ts';
import { createMailer } from './platform/providers/mailer.ts';
import { createPayment } from './platform/providers/payment/connection.ts';
import { createThrottle } from './platform/security/throttle.ts';
import { loadPseudonyms } from './platform/telemetry/pseudonyms.ts';
import { createTelemetry, instrumentCalls, noTelemetry } from './platform/telemetry/telemetry.ts';
import { createTierCounts } from './platform/telemetry/tier-counts.ts';

type Options = {
  config: Config;
  /** The folder of the migrations. Those of this program by default. */
  migrations?: string;
  /** Whether this process handles jobs. Otherwise it only enqueues them. */
  work: boolean;
  /**
   * Whether this process begins scheduled jobs at their times. Tests do not: a job of each minute would change what
   * they look at. They call its handler.
   */
  schedules?: boolean;
  /** Whether this process migrates the database. Otherwise it refuses one that lacks migrations. */
  migrates?: boolean;
  /** Whether the App is created even if the database is unavailable, for commands that check everything else. */
  withoutDatabase?: boolean;
  log?: Log;
  now?: () => Date;
};

/**
 * Opens the database, migrates it and starts the job queue. A process that handles jobs waits
 * while the database is unavailable. Admin commands change no table: they refuse a database that
 * lacks migrations.
 *
 * @throws Error whose message is a sentence that says why the App cannot start.
 */
export async function createApp({
  config,
  migrations = ownMigrations,
  work,
  schedules = work,
  migrates = work,
  withoutDatabase = false,
  log = createLog(config.log),
  now,
}: Options): Promise<App> {
  if (config.databaseUrl === null) throw new Error('DATABASE_URL is unset and no embedded database was started.');

  const plans = await loadPlans(config);
  // An admin command ends before its metrics could be scraped.
  const telemetry = work ? await createTelemetry(config, log) : noTelemetry();
  const { metrics, traces, load } = telemetry;
  const pools = openPools({ ...config, databaseUrl: config.databaseUrl }, { work, ...telemetry.database });
  const { db, sql } = pools.requests;
  // An admin command fails with a sentence of its own.
  const databaseHealth = watchHealth(
    [pools.requests.sql, pools.background.sql],
    work ? log : silentLog,
    config.timeouts.databaseQuietSeconds,
    (reason) => metrics.count('gatehouse_refused_writes_total', { reason }),
  );
  const app: App = {
    config,
    db,
    sql,
    databaseHealth,
    migrations,
    mail: createMailer(config, log, instrumentCalls(telemetry, 'mail')),
    idp: config.idp && createIdentityProvider(config.idp, instrumentCalls(telemetry, 'identity')),
    isBreached:
      config.breachedPasswords &&
      createBreachedPasswords(config.breachedPasswords, instrumentCalls(telemetry, 'breached_passwords')),
    payment: config.payment && createPayment(config.payment, instrumentCalls(telemetry, 'payment')),
    plans,
    jobs: unopened,
    syncs: noSyncs,
    throttle: createThrottle(config, sql, (rule) => metrics.count('gatehouse_rate_limit_refusals_total', { rule })),
    priceCache: createPriceCache(plans),
    changes: createChangeSignal(sql, log),
    log,
    metrics,
    traces,
    load,
    pseudonymOf: () => 'unknown',
    logRefusedDelivery: createRefusalLog(log, 'A delivery to /webhooks/payment was refused.'),
    tierCounts: createTierCounts(pools.background.sql, paidTiers(plans)),
    now: now ?? (() => new Date()),
    async close() {
      app.changes.stop();
      await Promise.all([app.syncs.stop(), app.jobs.stop()]);
      app.mail.close();
      databaseHealth.stop();
      await Promise.all([pools.close(), traces.close()]);
    },
  };

  const scheduled: App = Object.assign(Object.create(app), { db: pools.background.db, sql: pools.background.sql });
  if (work) for (const warning of [...config.warnings, ...unusedPriceWarnings({ config, plans })]) log.warn(warning);
  if (work && !app.mail.on)
    log.warn('SMTP_URL is unset: this node sends no mail, and leaves the mails to other nodes.');
  if (work && !config.rateLimits) {
    log.warn('RATE_LIMITS is off: passwords can be guessed without limit. It is meant for measurements alone.');
  }
  const open = <Result>(attempt: () => Promise<Result>) => (work ? retryWhileUnavailable(app, attempt) : attempt());
  try {
    if (!work) await pingDatabase(sql);
    if (migrates) await open(() => migrate(sql, { folder: migrations, version: config.version }, log));
    else await requireSchema(app);
    app.pseudonymOf = await open(() => loadPseudonyms(app.db));
    if (work) await open(() => refuseDemoAccounts(app));
    if (work) await open(() => claimMode(app));
    const queue = { sql: scheduled.sql, log, metrics, traces, databaseHealth, timeouts: config.timeouts };
    const kinds = jobKinds({ app, scheduled });
    app.jobs = await open(() => openJobs({ ...queue, kinds, work, schedules, setup: migrates }));
    if (schedules) {
      await open(() =>
        app.db.transaction(async (tx) => {
          const rules = digestOfRules(app);
          await app.jobs.send(tx, 'payment-plans', { rules }, { key: rules });
          await app.jobs.send(tx, 'encrypt-anew', {}, { key: 'secrets' });
        }),
      );
    }
    if (work) warnOfSubscriptions(scheduled);
  } catch (error) {
    if (!withoutDatabase) {
      await app.close();
      const refused = (await explainRefusedTls(sql, error)) ?? explainDatabaseRefusal(error);
      throw refused === null ? error : new Error(refused, { cause: error });
    }
  }
  if (work && app.payment !== null) app.syncs = createSyncQueue({ log, metrics, traces, ...syncsOf(app) });
  return app;
}

let opening: Promise<App> | undefined;

/**
 * Returns the App of the serving process, which the first call creates: apps/server calls it with the settings of the
 * process, and Kit's hook awaits the same App. Under `npm run dev` they come from the environment. packages/testing also
 * passes a clock.
 *
 * @throws Error whose message is a sentence that says why the App cannot start.
 */
export function openApp(config?: Config, now?: () => Date): Promise<App> {
  opening ??= createApp({ config: config ?? parseConfig(process.env), work: true, ...(now && { now }) });
  return opening;
}

/** @throws Error whose message is a sentence, if the database lacks migrations or is too new. */
async function requireSchema({ config, sql, migrations, log }: App): Promise<void> {
  const release = { folder: migrations, version: config.version };
  const state = await readSchemaState(sql, release);
  checkSchemaAge(state, release, log);
  const problem = explainPending(state);
  if (problem !== null) throw new Error(problem);
}

/** Logs a warning of subscriptions that give no plan. It may read every row, so the start neither waits for it nor fails with it. */
function warnOfSubscriptions(scheduled: App): void {
  warnOfMissingTiers(scheduled).catch((error: unknown) =>
    scheduled.log.debug('The subscriptions were not checked for warnings.', { error }),
  );
}

const unopened: Jobs = {
  send: () => Promise.reject(new Error('The job queue is not open yet.')),
  wake: () => {},
  dropMails: () => Promise.reject(new Error('The job queue is not open yet.')),
  retryMails: () => Promise.reject(new Error('The job queue is not open yet.')),
  stop: () => Promise.resolve(),
};

async function retryWhileUnavailable<Result>({ sql, log }: App, attempt: () => Promise<Result>): Promise<Result> {
  for (let pause = 250; ; pause = Math.min(pause * 2, 5000)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || (await explainRefusedTls(sql, error)) !== null) throw error;
      log.warn(`${explainDatabaseFailure(error)} Trying again.`, { pauseMilliseconds: pause });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
