import type { Sql } from 'postgres';
import type { Plans } from './billing/plans/plans.ts';
import type { PriceCache } from './billing/prices/price-cache.ts';
import type { SyncQueue } from './billing/sync/sync-queue.ts';
import type { ChangeSignal } from './changes/signal.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/db/client.ts';
import type { DatabaseHealth } from './platform/db/health.ts';
import type { Jobs } from './platform/jobs/registry.ts';
import type { Log, LogRefusal } from './platform/log.ts';
import type { BreachedPasswords } from './platform/providers/breached-passwords.ts';
import type { IdentityProvider } from './platform/providers/identity.ts';
import type { Mailer } from './platform/providers/mailer.ts';
import type { Payment } from './platform/providers/payment/connection.ts';
import type { Throttle } from './platform/security/throttle.ts';
import type { PoolLoad } from './platform/telemetry/instrument-statements.ts';
import type { Metrics } from './platform/telemetry/metrics.ts';
import type { PseudonymOf } from './platform/telemetry/pseudonyms.ts';
import type { TierCounts } from './platform/telemetry/tier-counts.ts';
import type { Traces } from './platform/telemetry/traces.ts';

/** Whether a search finds parts of a text, or only its beginning. */
export type SearchReach = 'parts' | 'beginnings';

/** Everything that the use cases work with. A feature that is off is null. */
export type App = {
  config: Config;
  db: Database;
  sql: Sql;
  /** Whether the database answers. */
  databaseHealth: DatabaseHealth;
  /** The folder of the migrations that belong to this program. */
  migrations: string;
  mail: Mailer;
  idp: IdentityProvider | null;
  payment: Payment | null;
  /** Whether a password is known from a data breach. */
  isBreached: BreachedPasswords | null;
  plans: Plans;
  jobs: Jobs;
  /** The subscriptions that this process asks the payment provider about next. */
  syncs: SyncQueue;
  throttle: Throttle;
  /** The tiers' prices at the provider, as this process last read them. */
  priceCache: PriceCache;
  /** Wakes the readers that wait for changes. */
  changes: ChangeSignal;
  log: Log;
  metrics: Metrics;
  traces: Traces;
  /** The load of the connection pool, counted if metrics are on. */
  load: PoolLoad;
  /** Names users and organisations in the log. */
  pseudonymOf: PseudonymOf;
  /** Logs a delivery that the payment provider did not sign. */
  logRefusedDelivery: LogRefusal;
  /** How many organisations have a subscription, by tier, for the metrics. */
  tierCounts: TierCounts;
  now: () => Date;
  close: () => Promise<void>;
};
