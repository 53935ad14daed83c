import { expect, test } from 'vitest';
import { formatDuration, formatRelativeTime } from './durations.ts';

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
