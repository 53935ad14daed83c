import { expect, test } from 'vitest';
import type { Tier } from '../subscription.ts';
import { lossesText, tierLines } from './tier-text.ts';

const names = new Map([
  ['members', 'Members'],
  ['api_calls', 'API calls'],
]);
const tier = { name: '', price: null, price_source: 'declared' as const };
const free: Tier = { ...tier, tier: 'free', limits: { members: 1, api_calls: 1000 }, features: { sso: false } };
const gold: Tier = { ...tier, tier: 'gold', limits: { members: null, api_calls: 50_000 }, features: { sso: true } };

test('a tier has a line for each meter and feature, also for those it lacks', () => {
  expect(tierLines(free, names).map(({ text }) => text)).toEqual(['1 member', '1,000 API calls', 'No single sign-on']);
  expect(tierLines(gold, names).map(({ text }) => text)).toEqual([
    'Members without limit',
    '50,000 API calls',
    'Single sign-on',
  ]);
});

test('only what a change reduces is a loss', () => {
  expect(lossesText(gold, free, names)).toEqual([
    '1 member instead of no limit',
    '1,000 API calls instead of 50,000',
    'No single sign-on',
  ]);
  expect(lossesText(free, gold, names)).toEqual([]);
});
