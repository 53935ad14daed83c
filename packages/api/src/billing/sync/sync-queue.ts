import { setTimeout as pauseFor } from 'node:timers/promises';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';
import type { Traces } from '../../platform/telemetry/traces.ts';

/** The subscriptions that this process is about to sync. Their rows are marked, so losing the list loses nothing. */
export type SyncQueue = {
  /** Asks the provider about a subscription soon. Several requests for one that waits are one. */
  request: (subscriptionId: string) => void;
  /** Resolves when the provider's limit permits the sync of a job. Jobs and requests share it. */
  turn: () => Promise<void>;
  /** Whether nothing waits and nothing runs. */
  isIdle: () => boolean;
  /** Drops what waits, and resolves when what runs has ended. */
  stop: () => Promise<void>;
};

/** The queue of a process that does not sync: the sweep that the service runs each minute finds the marked rows. */
export const noSyncs: SyncQueue = { request: () => {}, turn: async () => {}, isIdle: () => true, stop: async () => {} };

const maxConcurrent = 4;
/** Further rows are left to the sweep that runs each minute: the provider permits 25 requests a second. */
const maxWaiting = 1000;
const syncsPerSecond = 20;

const stopMilliseconds = 10_000;

type Options = {
  log: Log;
  metrics: Metrics;
  traces: Traces;
  sync: (subscriptionId: string) => Promise<void>;
  /** Stores that a sync failed, so that it is tried again. */
  retry: (subscriptionId: string) => Promise<void>;
};

/**
 * Creates the queue of a process that works. A subscription is synced by one request at a time, and
 * by one more if another was started meanwhile.
 */
export function createSyncQueue({ log, metrics, traces, sync, retry }: Options): SyncQueue {
  const waiting = new Map<string, string | undefined>();
  const running = new Map<string, Promise<void>>();
  const pace = tokenBucket(syncsPerSecond);
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;
  let stopped = false;

  function startNext() {
    clearTimeout(timer);
    clearImmediate(soon);
    timer = undefined;
    soon = undefined;
    for (const [id, parent] of waiting) {
      if (running.size >= maxConcurrent) return;
      if (running.has(id)) continue;
      const pause = pace.take();
      if (pause > 0) {
        timer = setTimeout(startNext, pause);
        return;
      }
      waiting.delete(id);
      running.set(id, run(id, parent));
    }
  }

  async function run(id: string, parent: string | undefined) {
    const started = performance.now();
    let outcome: 'ok' | 'failed' = 'ok';
    try {
      const work = { name: 'sync subscription', kind: 'consumer' as const, parent: parent ?? null };
      await traces.run(work, () => sync(id));
    } catch (error) {
      outcome = 'failed';
      log.warn('A subscription could not be synced. It will be tried again.', { subscription: id, error });
      await retry(id).catch((failure) => log.warn('A sync was not stored as a job.', { error: failure }));
    } finally {
      running.delete(id);
      const seconds = (performance.now() - started) / 1000;
      metrics.time('gatehouse_job_duration_seconds', { kind: 'payment-sync', outcome }, seconds);
      if (!stopped) startNext();
    }
  }

  return {
    request(id) {
      if (stopped || (waiting.size >= maxWaiting && !waiting.has(id))) return;
      waiting.set(id, traces.carried());
      // In a later turn of the event loop, so that the event is answered first.
      if (timer === undefined) soon ??= setImmediate(startNext);
    },
    async turn() {
      for (let pause = pace.take(); pause > 0; pause = pace.take()) {
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    },
    isIdle: () => waiting.size === 0 && running.size === 0,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      clearImmediate(soon);
      waiting.clear();
      await Promise.race([Promise.all(running.values()), pauseFor(stopMilliseconds, undefined, { ref: false })]);
    },
  };
}

/** Permits `rate` calls a second on average, and as many at once after a pause. */
function tokenBucket(rate: number) {
  let tokens = rate;
  let filledAt = performance.now();
  return {
    /** Takes a token and returns 0, or returns the milliseconds until there is one. */
    take(): number {
      const now = performance.now();
      tokens = Math.min(rate, tokens + ((now - filledAt) * rate) / 1000);
      filledAt = now;
      if (tokens < 1) return Math.ceil(((1 - tokens) * 1000) / rate);
      tokens -= 1;
      return 0;
    },
  };
}
