import { isAppError } from '../platform/errors.ts';

/** Runs at most as many attempts at a time as the queue of password hashes holds, because refused hashes do not count. */
export async function inBatches<Result>(count: number, attempt: (n: number) => Promise<Result>): Promise<Result[]> {
  const ended: Result[] = [];
  while (ended.length < count) {
    const size = Math.min(100, count - ended.length);
    ended.push(...(await Promise.all(Array.from({ length: size }, (_, n) => attempt(ended.length + n)))));
  }
  return ended;
}

/** Returns the seconds to wait if a limit refuses the attempt, else null. */
export async function secondsToWait(attempt: Promise<unknown>): Promise<number | null> {
  const thrown = await attempt.then(
    () => null,
    (error) => (isAppError(error) ? error : error.cause),
  );
  if (!isAppError(thrown) || thrown.code !== 'TOO_MANY') return null;
  return thrown.retryAfterSeconds ?? 0;
}
