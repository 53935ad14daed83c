import { beforeAll, describe, expect, test } from 'vitest';
import { dayMilliseconds } from '../../platform/durations.ts';
import { loadPlans, type Plans } from '../plans/plans.ts';
import { graceEnd, isEntitled, type RankedColumns, ranked } from './rank-subscriptions.ts';

const now = new Date('2026-03-15T12:00:00Z');
const ago = (days: number) => new Date(now.getTime() - days * dayMilliseconds);
const facts = (given: Partial<RankedColumns>): RankedColumns => ({
  id: 'sub_1',
  tier: 'silver',
  status: 'active',
  endsAt: null,
  pastDueSince: null,
  startedAt: ago(100),
  invoiceTrouble: null,
  disputed: false,
  ...given,
});

const rules = { pastDueGraceDays: 7, disputes: 'keep' as const };

describe('whether a subscription is entitled', () => {
  test.each<[string, Partial<RankedColumns>, boolean]>([
    ['active', { status: 'active' }, true],
    ['trialing', { status: 'trialing' }, true],
    ['past due, in its grace', { status: 'past_due', pastDueSince: ago(6.9) }, true],
    ['past due, after its grace', { status: 'past_due', pastDueSince: ago(7) }, false],
    ['past due since an unknown time', { status: 'past_due' }, false],
    ['active, after its debt was written off', { invoiceTrouble: 'uncollectible' }, false],
    ['active, after its first debit bounced', { invoiceTrouble: 'void' }, false],
    ['incomplete', { status: 'incomplete' }, false],
    ['incomplete_expired', { status: 'incomplete_expired' }, false],
    ['unpaid', { status: 'unpaid' }, false],
    ['paused', { status: 'paused' }, false],
    ['canceled', { status: 'canceled' }, false],
    ['an unknown status', { status: 'on_holiday' }, false],
    ['a price of no tier', { tier: null }, false],
    ['an end that is still to come', { endsAt: ago(-1) }, true],
    ['an end that has come', { endsAt: now }, false],
    [
      'an end that has come, past due in its grace',
      { status: 'past_due', pastDueSince: ago(1), endsAt: ago(0.5) },
      false,
    ],
  ])('%s', (_, given, entitled) => {
    expect(isEntitled(facts(given), rules, now)).toBe(entitled);
  });

  test('a disputed one is, unless PAYMENT_DISPUTES is end', () => {
    expect(isEntitled(facts({ disputed: true }), rules, now)).toBe(true);
    expect(isEntitled(facts({ disputed: true }), { ...rules, disputes: 'end' }, now)).toBe(false);
    expect(isEntitled(facts({ disputed: false }), { ...rules, disputes: 'end' }, now)).toBe(true);
  });

  test('zero days of grace give none', () => {
    expect(isEntitled(facts({ status: 'past_due', pastDueSince: now }), { ...rules, pastDueGraceDays: 0 }, now)).toBe(
      false,
    );
  });

  test('only past due has a grace period', () => {
    expect(graceEnd(facts({ status: 'unpaid', pastDueSince: ago(1) }), 7)).toBeNull();
    expect(graceEnd(facts({ status: 'past_due', pastDueSince: ago(1) }), 7)).toEqual(ago(-6));
  });
});

describe('the subscription that determines the plan', () => {
  let plans: Plans;
  beforeAll(async () => {
    const loaded = await loadPlans({ plansFile: null, prices: {} });
    const [free, ...paid] = loaded.tiers;
    const [lower] = paid;
    if (lower === undefined) throw new Error('There is no paid tier.');
    plans = { ...loaded, tiers: [free, lower, ...paid.slice(1), { ...lower, tier: 'platinum' }] };
  });
  const pick = (...all: RankedColumns[]) => ranked(plans, all, rules, now)[0]?.row ?? null;

  test.each<[string, Partial<RankedColumns>, Partial<RankedColumns>]>([
    [
      'an entitled one before one that is not',
      { status: 'past_due', pastDueSince: ago(1) },
      { status: 'active', endsAt: ago(1) },
    ],
    ['active before past due', { status: 'active' }, { status: 'past_due', pastDueSince: ago(1), tier: 'gold' }],
    ['past due before unpaid', { status: 'past_due' }, { status: 'unpaid', tier: 'gold' }],
    ['unpaid before paused', { status: 'unpaid' }, { status: 'paused', tier: 'gold' }],
    ['paused before incomplete', { status: 'paused' }, { status: 'incomplete', tier: 'gold' }],
    ['incomplete before an unknown status', { status: 'incomplete' }, { status: 'on_holiday', tier: 'gold' }],
    ['an unknown status before an end', { status: 'on_holiday' }, { status: 'canceled', startedAt: ago(1) }],
    ['gold before silver', { tier: 'gold', startedAt: ago(50) }, { tier: 'silver', startedAt: ago(1) }],
    [
      'platinum, the highest of this deployment, before gold',
      { tier: 'platinum' },
      { tier: 'gold', startedAt: ago(1) },
    ],
    ['a tier before none', { tier: 'silver', startedAt: ago(50) }, { tier: null, startedAt: ago(1), status: 'active' }],
    ['active and trialing alike, so gold', { tier: 'gold', status: 'trialing' }, { tier: 'silver', status: 'active' }],
    ['the newest', { startedAt: ago(1) }, { startedAt: ago(2) }],
    ['of two that are equal, always the same one', { id: 'sub_2' }, { id: 'sub_1' }],
  ])('%s', (_, first, second) => {
    const [winner, loser] = [facts(first), facts(second)];
    expect(pick(winner, loser)).toBe(winner);
    expect(pick(loser, winner)).toBe(winner);
  });

  test('is null without a subscription', () => {
    expect(pick()).toBeNull();
  });
});
