import type { Metrics } from './metrics.ts';
import type { Traces } from './traces.ts';

/** Does something that asks somebody else, and takes the time. `refused` tells a no from no answer. */
export type Watch = <Answer>(
  what: string,
  act: () => Promise<Answer>,
  refused?: (error: unknown) => boolean,
) => Promise<Answer>;

export const unwatched: Watch = (_what, act) => act();

/** How calls to one of the others are watched: a duration by outcome, and a span below what caused it. */
export function watchCalls(
  { metrics, traces }: { metrics: Metrics; traces: Traces },
  to: 'payment' | 'identity' | 'mail',
): Watch {
  return async (what, act, refused = () => false) => {
    const started = performance.now();
    let outcome = 'ok';
    try {
      return await traces.run({ name: `${to} ${what}`, kind: 'client', attributes: { 'peer.service': to } }, act);
    } catch (error) {
      outcome = refused(error) ? 'refused' : 'failed';
      throw error;
    } finally {
      metrics.time('gatehouse_call_duration_seconds', { to, outcome }, (performance.now() - started) / 1000);
    }
  };
}
