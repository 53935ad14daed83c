import type { Sql } from 'postgres';
import { AppError, isDatabaseUnavailable } from '../platform/errors.ts';
import { describeError, type Log } from '../platform/log.ts';
import { assignPositions } from './assign-positions.ts';

const pollMilliseconds = 500;
/** More than the processes of a service that follow the feed with one key. */
export const maxWaiting = 50;
const retrySeconds = 5;

/** A request that waits: the id of its key or user, and the signal that aborts when the caller disconnects. */
export type WaitingRequest = { callerId: string; signal?: AbortSignal | undefined };

/** Wakes the readers that wait for changes. One timer of the process asks the database for all of them. */
export type ChangeSignal = {
  /**
   * Resolves when the feed is longer than `position`, after `milliseconds`, when the request is aborted, or
   * when the process ends.
   *
   * @throws AppError TOO_MANY if 50 requests of the caller wait in this process.
   */
  wait: (position: number, milliseconds: number, who: WaitingRequest) => Promise<void>;
  /** Whether the process is shutting down, so that no reader may wait. */
  isStopped: () => boolean;
  stop: () => void;
};

/**
 * Creates the signal of this process. It polls the feed while requests wait.
 *
 * @throws AppError TOO_MANY from the function `wait` of the returned object.
 */
export function createChangeSignal(sql: Sql, log: Log): ChangeSignal {
  const waiting = new Set<{ position: number; callerId: string; wake: () => void }>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function poll() {
    try {
      const { last } = await assignPositions({ sql });
      for (const each of waiting) if (each.position < last) each.wake();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) {
        log.warn('The feed of changes could not be read.', { error: describeError(error) });
      }
    }
    timer = undefined;
    schedule();
  }

  function schedule() {
    if (timer === undefined && waiting.size > 0) timer = setTimeout(poll, pollMilliseconds);
  }

  return {
    async wait(position, milliseconds, { callerId, signal }) {
      if (stopped || signal?.aborted) return;
      if ([...waiting].filter((each) => each.callerId === callerId).length >= maxWaiting) {
        throw new AppError('TOO_MANY', `At most ${maxWaiting} requests wait for changes at a time.`, {
          retryAfterSeconds: retrySeconds,
        });
      }
      await new Promise<void>((resolve) => {
        const deadline = setTimeout(wake, milliseconds);
        const entry = { position, callerId, wake };
        function wake() {
          clearTimeout(deadline);
          signal?.removeEventListener('abort', wake);
          waiting.delete(entry);
          resolve();
        }
        waiting.add(entry);
        signal?.addEventListener('abort', wake, { once: true });
        schedule();
      });
    },
    isStopped: () => stopped,
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const { wake } of [...waiting]) wake();
    },
  };
}
