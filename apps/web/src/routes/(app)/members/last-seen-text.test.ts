import { expect, test } from 'vitest';
import { lastSeenText } from './last-seen-text.ts';

test.each([
  ['2026-12-03T00:00:00.000Z', 'Today'],
  ['2026-12-02T23:59:00.000Z', 'Yesterday'],
  ['2026-12-01T12:00:00.000Z', '1 December 2026'],
])('%s, seen at noon on 3 December, is %s', (iso, text) => {
  expect(lastSeenText(iso, '2026-12-03T12:00:00.000Z')).toBe(text);
});
