import type { Sql } from 'postgres';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { instrumentStatements, type PoolLoad } from './instrument-statements.ts';
import { type Metrics, noMetrics } from './metrics.ts';
import { noTraces, type Traces } from './traces.ts';

type Telemetry = {
  metrics: Metrics;
  traces: Traces;
  load: PoolLoad;
  /** Options of the database's client; empty while both metrics and traces are off. */
  database: { watch?: (sql: Sql) => Sql };
};

/** Creates the metrics and traces that the configuration turns on. Their libraries are loaded only then. */
export async function createTelemetry({ version, metricsTokens, otelEndpoint }: Config, log: Log): Promise<Telemetry> {
  if (metricsTokens.length === 0 && otelEndpoint === null) return noTelemetry();

  const metrics = metricsTokens.length === 0 ? noMetrics : (await import('./prometheus.ts')).createPrometheus(version);
  const traces =
    otelEndpoint === null
      ? noTraces
      : (await import('./open-telemetry.ts')).createOpenTelemetry({ endpoint: otelEndpoint, version }, log);
  const load = noLoad();
  return { metrics, traces, load, database: { watch: (sql) => instrumentStatements(sql, { metrics, traces }, load) } };
}

/** Telemetry that records nothing. */
export function noTelemetry(): Telemetry {
  return { metrics: noMetrics, traces: noTraces, load: noLoad(), database: {} };
}

function noLoad(): PoolLoad {
  return { statements: 0, open: 0, waiting: 0 };
}
