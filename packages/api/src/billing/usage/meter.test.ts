import { describe, expect, test } from 'vitest';
import { type Meter, periodOf } from './meter.ts';

const price = (interval: string) => ({ amount: 1, currency: 'gbp', interval });
const plans = [
  { tier: 'free', price: null },
  { tier: 'monthly', price: price('month') },
  { tier: 'yearly', price: price('year') },
  { tier: 'weekly', price: price('week') },
];
const meter = (resets: Meter['resets'], kind: Meter['kind'] = 'counter'): Meter => ({
  meter: 'm',
  name: 'M',
  kind,
  resets,
});

type Subscription = [tier: string, end: string, started: string, start?: string];

function period(resets: Meter['resets'], subscription: Subscription | null, now: string) {
  const [tier, end, started, start] = subscription ?? ['', '', ''];
  const currentPeriodStart = start === undefined ? null : new Date(start);
  const plan = plans.find((each) => each.tier === tier);
  const current = subscription && {
    plan,
    source: 'subscription',
    subscription: { currentPeriodStart, currentPeriodEnd: new Date(end), startedAt: new Date(started) },
  };
  const { since, resetsAt } = periodOf(meter(resets), current as never, new Date(now));
  return [since.toISOString().slice(0, 16), resetsAt?.toISOString().slice(0, 16)];
}

describe('a counter’s period', () => {
  test.each<[string, Meter['resets'], Subscription | null, string, [string, string]]>([
    [
      'is the calendar month',
      'calendar_month',
      ['monthly', '2026-02-10', '2026-01-10'],
      '2026-01-31T23:59',
      ['2026-01-01T00:00', '2026-02-01T00:00'],
    ],
    [
      'is the calendar month without a subscription',
      'subscription_period',
      null,
      '2026-01-31',
      ['2026-01-01T00:00', '2026-02-01T00:00'],
    ],
    [
      'is the subscription’s',
      'subscription_period',
      ['monthly', '2026-02-10T08:30', '2026-01-10T08:30'],
      '2026-01-31',
      ['2026-01-10T08:30', '2026-02-10T08:30'],
    ],
    [
      'starts at its end',
      'subscription_period',
      ['monthly', '2026-02-10T08:30', '2026-01-10T08:30'],
      '2026-02-10T08:30',
      ['2026-02-10T08:30', '2026-03-10T08:30'],
    ],
    [
      'goes on while the next period is not reported',
      'subscription_period',
      ['monthly', '2026-02-10', '2026-01-10'],
      '2026-06-20',
      ['2026-06-10T00:00', '2026-07-10T00:00'],
    ],
    [
      'ends a short month early',
      'subscription_period',
      ['monthly', '2026-02-28', '2026-01-31'],
      '2026-02-15',
      ['2026-01-31T00:00', '2026-02-28T00:00'],
    ],
    [
      'returns to the day of the start',
      'subscription_period',
      ['monthly', '2026-02-28', '2026-01-31'],
      '2026-03-15',
      ['2026-02-28T00:00', '2026-03-31T00:00'],
    ],
    [
      'is a month of the year for a yearly price',
      'subscription_period',
      ['yearly', '2027-05-05T08:30', '2026-05-05T08:30', '2026-05-05T08:30'],
      '2026-11-15',
      ['2026-11-05T08:30', '2026-12-05T08:30'],
    ],
    [
      'ends with the year for a yearly price',
      'subscription_period',
      ['yearly', '2027-05-05', '2026-05-05', '2026-05-05'],
      '2027-05-04T23:59',
      ['2027-04-05T00:00', '2027-05-05T00:00'],
    ],
    [
      'goes on by months while the next year is not reported',
      'subscription_period',
      ['yearly', '2027-05-05', '2026-05-05', '2026-05-05'],
      '2027-05-05',
      ['2027-05-05T00:00', '2027-06-05T00:00'],
    ],
    [
      'is a month of a yearly price whose period’s start is not known',
      'subscription_period',
      ['yearly', '2027-05-31', '2026-05-31'],
      '2027-02-28',
      ['2027-02-28T00:00', '2027-03-31T00:00'],
    ],
    [
      'does not begin before a long period that is no whole number of months',
      'subscription_period',
      ['monthly', '2026-05-05', '2026-03-20', '2026-03-20'],
      '2026-03-25',
      ['2026-03-20T00:00', '2026-04-05T00:00'],
    ],
    [
      'is a week for a weekly price',
      'subscription_period',
      ['weekly', '2026-05-12', '2026-05-05'],
      '2026-05-06',
      ['2026-05-05T00:00', '2026-05-12T00:00'],
    ],
    [
      'is a month of the paid year where an earlier price has another interval than the tier now',
      'subscription_period',
      ['monthly', '2027-05-05', '2026-05-05', '2026-05-05'],
      '2026-11-15',
      ['2026-11-05T00:00', '2026-12-05T00:00'],
    ],
    [
      'starts on the day of the billing cycle, which a trial has moved',
      'subscription_period',
      ['monthly', '2026-04-30', '2026-01-15', '2026-03-31'],
      '2026-04-15',
      ['2026-03-31T00:00', '2026-04-30T00:00'],
    ],
  ])('%s', (_, resets, subscription, now, expected) => {
    const utc = (value = '') => (value.includes('T') ? `${value}Z` : value);
    const facts =
      subscription && (subscription.map((value, at) => (at === 0 ? value : utc(value))) as typeof subscription);
    expect(period(resets, facts, utc(now))).toEqual(expected);
  });

  test('is the same whether the event that reports it has arrived or not', () => {
    for (const now of ['2026-02-28T00:00Z', '2026-03-01T12:00Z', '2026-03-30T23:00Z']) {
      const late = period('subscription_period', ['monthly', '2026-02-28T00:00Z', '2026-01-31T00:00Z'], now);
      expect(late).toEqual(period('subscription_period', ['monthly', '2026-03-31T00:00Z', '2026-01-31T00:00Z'], now));
    }
  });

  test('is the same before and after that event on any day of a billing cycle that a trial has moved', () => {
    const started = '2026-01-15T00:00Z';
    const cycle = ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'].map((day) => `${day}T00:00Z`);
    for (let at = 0; at + 2 < cycle.length; at++) {
      const [start = '', end = '', next = ''] = cycle.slice(at);
      const late = period('subscription_period', ['monthly', end, started, start], end);
      expect(late).toEqual(period('subscription_period', ['monthly', next, started, end], end));
    }
  });
});

test('a gauge has a single period without an end', () => {
  expect(periodOf(meter('subscription_period', 'gauge'), null, new Date())).toEqual({
    since: new Date(0),
    resetsAt: null,
  });
});
