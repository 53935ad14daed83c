import { expect, test } from 'vitest';
import { localDate, localDateTime } from './local-dates.ts';

test.each([
  ['Europe/Berlin', '4 December 2026, 00:02'],
  ['UTC', '3 December 2026, 23:02'],
  ['America/New_York', '3 December 2026, 18:02'],
])('the same moment in %s: %s', (zone, text) => {
  expect(localDateTime('2026-12-03T23:02:00Z', zone)).toBe(text);
  expect(text.startsWith(localDate('2026-12-03T23:02:00Z', zone))).toBe(true);
});
