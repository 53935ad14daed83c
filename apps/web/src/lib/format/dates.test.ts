import { expect, test } from 'vitest';
import { formatDate, formatDateTime } from './dates.ts';

test('a date is written with the month as a word, in UTC until the user’s time zone is known', () => {
  expect(formatDate('2026-12-03T23:59:00Z')).toBe('3 December 2026');
  expect(formatDateTime('2026-11-20T14:02:31Z')).toBe('20 November 2026, 14:02 UTC');
});

test.each([
  ['Europe/Berlin', '4 December 2026, 00:02'],
  ['UTC', '3 December 2026, 23:02'],
  ['America/New_York', '3 December 2026, 18:02'],
])('the same moment in %s: %s', (zone, text) => {
  expect(formatDateTime('2026-12-03T23:02:00Z', zone)).toBe(text);
  expect(text.startsWith(formatDate('2026-12-03T23:02:00Z', zone))).toBe(true);
});
