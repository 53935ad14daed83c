import type { Metrics } from './metrics.ts';
import type { Traces } from './traces.ts';

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
  to: 'payment' | 'identity' | 'mail',
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
