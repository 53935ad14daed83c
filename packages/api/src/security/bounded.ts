import { Refusal } from '../errors.ts';

/**
 * Runs at most `most` tasks at a time; others wait their turn, as many as `waiting` says.
 *
 * @throws Refusal BUSY when more than `mostWaiting` are waiting already.
 */
export function bounded(most: number, mostWaiting: number) {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (running >= most) {
      if (waiting.length >= mostWaiting) {
        throw new Refusal('BUSY', 'The service is busy. Try again in a moment.', { retryAfterSeconds: 5 });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return Object.assign(run, { waiting: () => waiting.length });
}
