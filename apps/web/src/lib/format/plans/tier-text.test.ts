import { expect, test } from 'vitest';
import type { Tier } from '../../subscription.ts';
import { lossesText, tierLines } from './tier-text.ts';

const meters = [
  { meter: 'members', name: 'Members', resets: null },
  { meter: 'api_calls', name: 'API calls', resets: 'calendar_month' as const },
];
const tier = { name: '', price: null, price_source: 'declared' as const };
const features = { audit_log: false };
const free: Tier = {
  ...tier,
  tier: 'free',
  limits: { members: 1, api_calls: 1000, projects: 3 },
  features: { ...features, sso: false },
};
const gold: Tier = {
  ...tier,
  tier: 'gold',
  limits: { members: null, api_calls: 50_000, projects: 3 },
  features: { ...features, sso: true },
};

test('a tier has a line for each meter and feature, also for those it lacks, and a counter’s says “a month”', () => {
  const texts = (of: Tier) => tierLines(of, meters).map(({ text }) => text);
  expect(texts(free)).toEqual([
    '1 member',
    '1,000 API calls a month',
    '3 projects',
    'No audit log',
    'No single sign-on',
  ]);
  expect(texts(gold)).toEqual([
    'Unlimited members',
    '50,000 API calls a month',
    '3 projects',
    'No audit log',
    'Single sign-on',
  ]);
});

test('the limit of a counter that follows the subscription is one of a billing period', () => {
  const exports = { meter: 'exports', name: 'Exports', resets: 'subscription_period' as const };
  const yearly: Tier = { ...gold, limits: { exports: 12 } };
  expect(tierLines(yearly, [exports])[0]?.text).toBe('12 exports in a billing period');
});

test('compared with another tier, exactly the lines that differ are changed, and a limit names the other one', () => {
  const changes = tierLines(gold, meters, free).map(({ key, changed, instead }) => [key, changed, instead]);
  expect(changes).toEqual([
    ['members', true, 'instead of 1'],
    ['api_calls', true, 'instead of 1,000'],
    ['projects', false, ''],
    ['audit_log', false, ''],
    ['sso', true, ''],
  ]);
  expect(tierLines(free, meters, gold)[0]?.instead).toBe('instead of unlimited');
  expect(tierLines(gold, meters).filter(({ changed }) => changed)).toEqual([]);
});

test('only what a change reduces is a loss', () => {
  expect(lossesText(gold, free, meters)).toEqual([
    '1 member instead of unlimited',
    '1,000 API calls a month instead of 50,000',
    'No single sign-on',
  ]);
  expect(lossesText(free, gold, meters)).toEqual([]);
  expect(lossesText(gold, free, meters, Object.keys({ ...gold.limits, ...gold.features }))).toEqual([]);
});
