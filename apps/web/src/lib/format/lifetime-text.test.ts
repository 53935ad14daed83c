import { expect, test } from 'vitest';
import { lifetimeText } from './lifetime-text.ts';

test.each([
  [60, 'a minute'],
  [900, '15 minutes'],
  [3600, 'an hour'],
  [5400, '90 minutes'],
  [7200, '2 hours'],
  [86_400, '24 hours'],
  [604_800, '7 days'],
])('a link that works for %i seconds works within %s', (seconds, text) => {
  expect(lifetimeText(seconds)).toBe(text);
});
