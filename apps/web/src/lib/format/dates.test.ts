import { expect, test } from 'vitest';
import { formatDate, formatDateTime, formatDuration, formatRelativeTime } from './dates.ts';

test('a date is written with the month as a word, in UTC until the reader’s zone is known', () => {
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

test.each([
  ['2026-11-20T12:00:00Z', 'just now'],
  ['2026-11-20T11:59:00Z', '1 minute ago'],
  ['2026-11-20T10:00:00Z', '2 hours ago'],
  ['2026-11-19T11:00:00Z', 'yesterday'],
  ['2026-11-01T11:00:00Z', '1 November 2026'],
])('%s is %s at noon on 20 November', (iso, words) => {
  expect(formatRelativeTime(iso, '2026-11-20T12:00:00Z')).toBe(words);
});

test.each([
  ['2026-11-20T11:59:40Z', 'less than a minute'],
  ['2026-11-20T11:49:00Z', '11 minutes'],
  ['2026-11-20T07:00:00Z', '5 hours'],
  ['2026-11-16T12:00:00Z', '4 days'],
])('since %s it has been %s', (iso, words) => {
  expect(formatDuration(iso, '2026-11-20T12:00:00Z')).toBe(words);
});
