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

/**
 * Runs a call to another system as a span and records its duration. `isRefused` says whether
 * an error is the other system's refusal, as distinct from a missing or unusable answer.
 *
 * @throws what the call throws.
 */
export type InstrumentCall = <Answer>(
  operation: string,
  call: () => Promise<Answer>,
  isRefused?: (error: unknown) => boolean,
) => Promise<Answer>;

/** Runs the call and records nothing. */
export const uninstrumented: InstrumentCall = (_operation, call) => call();

/** Returns the instrumentation of calls to one other system: a duration by outcome, and a span below its cause. */
export function instrumentCalls(
  { metrics, traces }: { metrics: Metrics; traces: Traces },
  to: 'payment' | 'identity' | 'mail' | 'breached_passwords',
): InstrumentCall {
  return async (operation, call, isRefused = () => false) => {
    const started = performance.now();
    let outcome: 'ok' | 'refused' | 'failed' = 'ok';
    try {
      return await traces.run({ name: `${to} ${operation}`, kind: 'client', attributes: { 'peer.service': to } }, call);
    } catch (error) {
      outcome = isRefused(error) ? 'refused' : 'failed';
      throw error;
    } finally {
      metrics.time('gatehouse_call_duration_seconds', { to, outcome }, (performance.now() - started) / 1000);
    }
  };
}
