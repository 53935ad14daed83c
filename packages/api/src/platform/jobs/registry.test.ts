import { expect, it } from 'vitest';
import { retriesWithin } from './registry.ts';

it('a job is retried for as long as its kind says, however the pauses vary', () => {
  expect(retriesWithin({ forSeconds: 0, longestPauseSeconds: 0 }, 2)).toBe(0);
  expect(retriesWithin({ forSeconds: 1, longestPauseSeconds: 60 }, 2)).toBe(1);
  const days = 3 * 86_400;
  const retries = retriesWithin({ forSeconds: days, longestPauseSeconds: 900 }, 2);
  const shortest = Array.from({ length: retries }, (_, at) => Math.min(900, 2 ** at));
  expect(shortest.reduce((sum, pause) => sum + pause)).toBeGreaterThanOrEqual(days);
  expect(retries).toBeLessThan(310);
});
