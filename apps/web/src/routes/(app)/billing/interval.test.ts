import { expect, test } from 'vitest';
import type { Plan, Tier } from '#lib/subscription.ts';
import { inInterval, intervalsOf, isAvailable, savingOf, shownInterval } from './interval.ts';

const tier = (month: number, year: number, yearIn = 'gbp') =>
  ({
    price: { amount: month, currency: 'gbp', interval: 'month' },
    price_source: 'provider',
    prices: [
      { amount: month, currency: 'gbp', interval: 'month', price_source: 'provider' },
      { amount: year, currency: yearIn, interval: 'year', price_source: 'declared' },
    ],
  }) as Tier;
const free = { price: null, price_source: 'declared' } as Tier;
const plan = (interval: string | null) => ({ price: interval === null ? null : { interval } }) as Plan;

test('the page shows the interval of its address, else that of the subscription, else the first', () => {
  const tiers = [free, tier(2400, 24_000)];
  expect(intervalsOf(tiers)).toEqual(['month', 'year']);
  expect(shownInterval(tiers, plan(null), null)).toBe('month');
  expect(shownInterval(tiers, plan('year'), null)).toBe('year');
  expect(shownInterval(tiers, plan('year'), 'month')).toBe('month');
  expect(shownInterval(tiers, plan('week'), 'never')).toBe('month');
});

test('tiers with one price each have no choice', () => {
  const { prices: _, ...one } = tier(2400, 0);
  expect(shownInterval([free, one], plan('month'), 'year')).toBeNull();
  expect(inInterval(one, 'year')).toBe(one);
});

test('a tier shows the price of the interval with its own source', () => {
  expect(inInterval(tier(2400, 24_000), 'year')).toMatchObject({
    price: { amount: 24_000, currency: 'gbp', interval: 'year' },
    price_source: 'declared',
  });
});

test('a tier is available for an interval unless the provider does not sell it for that one', () => {
  const gold = { ...tier(2400, 24_000), tier: 'gold' };
  const unavailable = [{ tier: 'gold', interval: 'year' as const }];
  expect(isAvailable(inInterval(gold, 'year'), unavailable)).toBe(false);
  expect(isAvailable(inInterval(gold, 'month'), unavailable)).toBe(true);
  expect(isAvailable(inInterval({ ...gold, tier: 'silver' }, 'year'), unavailable)).toBe(true);
});

test('a year saves what twelve months cost more, and never promises more than it saves', () => {
  expect(savingOf(tier(2400, 24_000))).toEqual({ amount: 4800, currency: 'gbp', percent: 16 });
  expect(savingOf(tier(2400, 28_800))).toBeNull();
  expect(savingOf(tier(2400, 24_000, 'eur'))).toBeNull();
  expect(savingOf(free)).toBeNull();
});
