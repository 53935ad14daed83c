import type { Change } from './answers.ts';
import { GatehouseError } from './error.ts';
import { jitter, sleep } from './send.ts';

type Poll = (input: {
  after: string | undefined;
  wait: number;
  signal: AbortSignal;
}) => Promise<{ changes: Change[]; next: string }>;

export type Follower = {
  /** The cursor to begin with; without one the feed begins now. `onCursor` receives the cursor to store for a restart. */
  after?: string | undefined;
  /** Called for each change in order. A change whose call throws is delivered again. */
  onChange: (change: Change) => void | Promise<void>;
  /** Called with the cursor after all delivered changes. */
  onCursor?: (cursor: string) => void | Promise<void>;
  /**
   * Called when the feed begins without a cursor, and when the cursor is no longer kept, so that changes
   * were missed: discard what was derived from the feed.
   */
  onReset?: () => void | Promise<void>;
  /** Called for each failure; the feed is asked again after a pause. */
  onError?: (error: unknown) => void;
};

export type Following = {
  /** Ends the feed and its open request. Resolves when the last callback has ended. */
  close: () => Promise<void>;
};

const maxPauseMilliseconds = 30_000;

/** Follows the feed of changes by long polling, each change at least once, until closed. */
export function followChanges(poll: Poll, follower: Follower, waitSeconds = 30): Following {
  const controller = new AbortController();
  const ended = follow(poll, follower, waitSeconds, controller.signal);
  return {
    close() {
      controller.abort();
      return ended;
    },
  };
}

async function follow(poll: Poll, follower: Follower, waitSeconds: number, signal: AbortSignal): Promise<void> {
  // An empty text is no cursor: the service would begin now, and say nothing of what was missed.
  let after = follower.after || undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      // Without a cursor the answer is the end of the feed: there is nothing to wait for.
      const begins = after === undefined;
      const asked = performance.now();
      // Only an error of the poll is about the cursor: the follower's own calls may throw the same codes.
      const answer = await poll({ after, wait: begins ? 0 : waitSeconds, signal }).catch((error: unknown) => {
        if (begins || !isCursorRefused(error)) throw error;
        return null;
      });
      if (answer === null) {
        after = undefined;
        continue;
      }
      const { changes, next } = answer;
      if (begins) await follower.onReset?.();
      for (const change of changes) {
        if (signal.aborted) return;
        await follower.onChange(change);
        after = change.cursor;
      }
      after = next;
      await follower.onCursor?.(next);
      failures = 0;
      // A node that is about to end answers at once.
      const isEarly = performance.now() - asked < (waitSeconds * 1000) / 2;
      if (!begins && changes.length === 0 && isEarly) await sleep(500 + jitter(failures), signal).catch(() => {});
    } catch (error) {
      if (signal.aborted) return;
      reportError(follower, error);
      failures += 1;
      await sleep(100 + jitter(failures, maxPauseMilliseconds), signal).catch(() => {});
    }
  }
}

/** A cursor is refused with GONE after 30 days, and with VALIDATION if the database was restored to an earlier state. */
function isCursorRefused(error: unknown): boolean {
  return error instanceof GatehouseError && (error.code === 'GONE' || error.code === 'VALIDATION');
}

/** Passes an error to `onError`. An error that it throws is ignored, because it must not end the feed. */
function reportError({ onError }: Follower, error: unknown): void {
  try {
    onError?.(error);
  } catch {}
}
