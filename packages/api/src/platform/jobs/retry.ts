/** How a failed job is retried: the pauses double up to the longest. Zero seconds: not at all. */
export type Retry = { forSeconds: number; longestPauseSeconds: number };

/**
 * Returns the number of retries that take at least `forSeconds`. The queue varies each pause between
 * half of its length and all of it.
 */
export function retriesWithin({ forSeconds, longestPauseSeconds }: Retry, firstPauseSeconds: number): number {
  let retries = 0;
  for (let passed = 0; passed < forSeconds; retries++) {
    passed += Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** Math.min(16, retries) * 0.5);
  }
  return retries;
}
