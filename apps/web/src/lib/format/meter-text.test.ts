import { expect, test } from 'vitest';
import { meterText } from './meter-text.ts';

const calls = { meter: 'api_calls', name: 'API calls', limit: 50_000, resets_at: '2026-12-03T00:00:00Z' };
const members = { meter: 'members', name: 'Members', limit: 10, resets_at: null };

test.each([
  [{ ...calls, used: 39_999 }, 'plain', '10,001 left'],
  [{ ...calls, used: 40_000 }, 'warn', '10,000 left on Silver'],
  [{ ...calls, used: 50_000 }, 'bad', 'New API calls are refused until 3 December'],
  [{ ...members, used: 12 }, 'bad', 'New members are refused on Silver'],
  [{ ...members, used: 12, limit: null }, 'plain', 'No limit'],
])('%o reads %s: %s', (usage, tone, text) => {
  expect(meterText(usage, 'Silver')).toEqual({ tone, text });
});
