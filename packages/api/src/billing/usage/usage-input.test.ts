import { expect, test } from 'vitest';
import { dayMilliseconds } from '../../platform/durations.ts';
import { requireRecentTimes } from './usage-input.ts';

const now = Date.parse('2026-05-10T12:00:00Z');
const check = (milliseconds: number) => () =>
  requireRecentTimes({ now: () => new Date(now) }, { at: new Date(now + milliseconds), none: undefined });

test.each([-35 * dayMilliseconds, 0, 300_000])('a time %i ms from now is taken', (distance) => {
  expect(check(distance)).not.toThrow();
});

test.each([-35 * dayMilliseconds - 1, 300_001])('a time %i ms from now is refused by its field', (distance) => {
  expect(check(distance)).toThrow(expect.objectContaining({ code: 'VALIDATION', fields: { at: expect.any(String) } }));
});
