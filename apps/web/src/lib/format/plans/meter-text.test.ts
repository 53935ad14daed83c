import { expect, test } from 'vitest';
import { meterText } from './meter-text.ts';

const resets = null;
const calls = { meter: 'api_calls', name: 'API calls', limit: 50_000, resets_at: '2026-12-01T00:00:00Z', resets };
const members = { meter: 'members', name: 'Members', limit: 10, resets_at: null, resets };

test.each([
  [{ ...calls, used: 0 }, 'plain', '50,000 left, resets 1 December'],
  [{ ...calls, used: 39_999 }, 'plain', '10,001 left, resets 1 December'],
  [{ ...calls, used: 40_000 }, 'warn', '10,000 left, resets 1 December'],
  [{ ...calls, used: 50_000 }, 'bad', 'API call limit reached, resets 1 December'],
  [{ ...calls, used: 50_001 }, 'bad', 'Over the API call limit, resets 1 December'],
  [{ ...calls, used: 7, limit: null }, 'plain', 'No limit, resets 1 December'],
  [{ ...members, used: 4 }, 'plain', 'Room for 6 more'],
  [{ ...members, used: 9 }, 'warn', 'Room for 1 more'],
  [{ ...members, used: 10 }, 'bad', 'Member limit reached'],
  [{ ...members, used: 12 }, 'bad', 'Over the member limit'],
  [{ ...members, used: 0, limit: 0 }, 'bad', 'Member limit reached'],
  [{ ...members, used: 12, limit: null }, 'plain', 'No limit'],
])('%o reads %s: %s', (usage, tone, text) => {
  expect(meterText(usage)).toEqual({ tone, text });
});
