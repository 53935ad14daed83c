import { expect, test } from 'vitest';
import { formatDate } from '#lib/format/dates.ts';
import { cancelledText, keptText } from './cancellation-text.ts';

const plans = { tiers: [{ tier: 'silver', name: 'Silver' }] };
const record = {
  tier: 'silver',
  status: 'active',
  cancel_at_period_end: true,
  current_period_end: '2026-12-22T10:00:00Z',
  ends_at: null,
};
const written = (text: ReturnType<typeof keptText>) =>
  [text]
    .flat()
    .map((part) => (typeof part === 'string' ? part : 'day' in part ? formatDate(part.day) : part.name))
    .join('');

test('a cancellation names the plan and its last day', () => {
  expect(written(cancelledText(record, plans))).toBe('Silver is cancelled. You have it until 22 December 2026.');
  const ends = { ...record, ends_at: '2026-12-01T10:00:00Z' };
  expect(written(cancelledText(ends, plans))).toBe('Silver is cancelled. You have it until 1 December 2026.');
});

test('a cancellation of a plan that gives nothing names no day', () => {
  expect(written(cancelledText({ ...record, status: 'unpaid' }, plans))).toBe('Silver is cancelled.');
  expect(written(cancelledText({ ...record, tier: null, status: 'unpaid' }, plans))).toBe(
    'The paid plan is cancelled.',
  );
});

test('a plan that is kept names the day of its renewal, where there is one', () => {
  expect(written(keptText(record, plans))).toBe('Silver stays. It renews on 22 December 2026.');
  expect(written(keptText({ ...record, status: 'past_due' }, plans))).toBe('Silver stays.');
  const dropped = keptText({ ...record, hadChange: true }, plans);
  expect(written(dropped)).toBe('Silver stays. The planned change is off. It renews on 22 December 2026.');
});
