import { afterEach, expect, test, vi } from 'vitest';
import { steadyTime } from './steady-time.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('the time goes on where the clock of the machine is set back', () => {
  const before = Date.now();
  expect(Math.abs(steadyTime() - before)).toBeLessThan(60_000);
  const steady = steadyTime();
  vi.useFakeTimers({ toFake: ['Date'], now: before - 3_600_000 });
  expect(Date.now()).toBeLessThan(before);
  expect(steadyTime()).toBeGreaterThanOrEqual(steady);
});
