import type { Log } from '../log.ts';

const pauseMilliseconds = 60_000;
/** The reasons of one minute that are kept apart. Further ones are counted together. */
const maximumReasons = 20;

/** Logs a refusal, at most once a minute for each reason. */
export type LogRefusal = (reason: string) => void;

/**
 * Creates the log of refusals by one cause, such as a wrong signature. A line says how often its
 * reason occurred since its last line.
 */
export function createRefusalLog(log: Log, message: string, now: () => number = () => performance.now()): LogRefusal {
  const reasons = new Map<string, { loggedAt: number; unlogged: number }>();

  return (reason) => {
    const time = now();
    if (reasons.size >= maximumReasons && !reasons.has(reason)) reason = 'other reasons';
    const { loggedAt, unlogged } = reasons.get(reason) ?? { loggedAt: Number.NEGATIVE_INFINITY, unlogged: 0 };
    if (time - loggedAt < pauseMilliseconds) {
      reasons.set(reason, { loggedAt, unlogged: unlogged + 1 });
      return;
    }
    log.warn(message, { reason, times: unlogged + 1 });
    reasons.set(reason, { loggedAt: time, unlogged: 0 });
  };
}
