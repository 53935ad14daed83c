import type { Sql } from 'postgres';
import { describeError, type Log } from '../log.ts';
import { placeChanges } from './place.ts';

const pollMilliseconds = 500;

/** Wakes the readers that wait for changes. One timer of the process asks the database for all of them. */
export type ChangeSignal = {
  /** Resolves when the feed is longer than `position`, after `milliseconds`, or when the process ends. */
  wait: (position: number, milliseconds: number) => Promise<void>;
  /** Whether the process ends: nobody waits any more. */
  isStopped: () => boolean;
  stop: () => void;
};

export function createChangeSignal(sql: Sql, log: Log): ChangeSignal {
  const waiting = new Set<{ position: number; wake: () => void }>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function poll() {
    try {
      const { last } = await placeChanges({ sql });
      for (const each of waiting) if (each.position < last) each.wake();
    } catch (error) {
      log.warn('changes could not be read', { error: describeError(error) });
    }
    timer = undefined;
    schedule();
  }

  function schedule() {
    if (timer === undefined && waiting.size > 0) timer = setTimeout(poll, pollMilliseconds);
  }

  return {
    wait(position, milliseconds) {
      if (stopped) return Promise.resolve();
      return new Promise((resolve) => {
        const deadline = setTimeout(wake, milliseconds);
        const entry = { position, wake };
        function wake() {
          clearTimeout(deadline);
          waiting.delete(entry);
          resolve();
        }
        waiting.add(entry);
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
