import type { Sql } from 'postgres';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { type Metrics, noMetrics } from './metrics.ts';
import { type PoolLoad, watchStatements } from './statements.ts';
import { noTraces, type Traces } from './traces.ts';

export type Watching = {
  metrics: Metrics;
  traces: Traces;
  load: PoolLoad;
  /** For the database's client; nothing where nobody watches. */
  database: { watch?: (sql: Sql) => Sql };
};

/** What the configuration wants to have watched. The libraries that do it are loaded only then. */
export async function openWatching({ metricsToken, otelEndpoint }: Config, log: Log): Promise<Watching> {
  if (metricsToken === null && otelEndpoint === null) return nothingWatched();

  const metrics = metricsToken === null ? noMetrics : (await import('./prometheus.ts')).createPrometheus();
  const traces =
    otelEndpoint === null ? noTraces : (await import('./open-telemetry.ts')).createOpenTelemetry(otelEndpoint, log);
  const load = idle();
  return { metrics, traces, load, database: { watch: (sql) => watchStatements(sql, { metrics, traces }, load) } };
}

export function nothingWatched(): Watching {
  return { metrics: noMetrics, traces: noTraces, load: idle(), database: {} };
}

function idle(): PoolLoad {
  return { statements: 0, open: 0, waiting: 0 };
}
