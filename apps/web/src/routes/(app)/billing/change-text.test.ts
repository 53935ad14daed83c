import { expect, test } from 'vitest';
import { freePlan } from '#lib/format/plans/testing/free-plan.ts';
import type { Plan, Summary, Tier } from '#lib/subscription.ts';
import { type ChangeEstimate, changeQuery, chargeNotes, chargeText } from './change-text.ts';

const plan = { ...freePlan, tier: 'silver', name: 'Silver', price: { interval: 'month' } } as Plan;
const gold = { tier: 'gold', name: 'Gold' } as Tier;
const silver = { tier: 'silver', name: 'Silver' } as Tier;
const estimate: ChangeEstimate = {
  waits: false,
  due: { amount: 3820, currency: 'gbp' },
  price: { amount: 5500, currency: 'gbp', interval: 'month' },
  from: '2026-12-22T10:00:00Z',
};
const text = (changed: Partial<ChangeEstimate>, tax: Summary['tax'] = null, next = gold, from = plan) =>
  chargeText({ ...estimate, ...changed }, { plan: from, tax }, next);

test('a change that begins now says what is charged now, and what from when', () => {
  expect(text({})).toBe('You pay about £38.20 now, then £55 a month from 22 December 2026.');
  expect(text({}, 'unspecified')).toBe(text({}));
  expect(text({}, 'exclusive')).toBe(
    'You pay about £38.20 including VAT now, then £55 a month plus VAT from 22 December 2026.',
  );
  expect(text({}, 'inclusive')).toBe(
    'You pay about £38.20 including VAT now, then £55 a month including VAT from 22 December 2026.',
  );
  expect(text({ due: { amount: 0, currency: 'gbp' } })).toBe(
    'Nothing is charged now. You have Gold straight away, and pay £55 a month from 22 December 2026.',
  );
});

test('a change that waits says that nothing is charged now, and what the plan is until when', () => {
  const waits = { waits: true, due: { amount: 0, currency: 'gbp' } };
  const yearly = { ...plan, tier: 'gold', name: 'Gold', price: { interval: 'year' } } as Plan;
  expect(text(waits, 'exclusive', silver, yearly)).toBe(
    'Nothing is charged now. Gold until 22 December 2026, then Silver for £55 a month plus VAT.',
  );
  expect(text(waits, null, gold, yearly)).toBe(
    'Nothing is charged now. Gold yearly until 22 December 2026, then Gold monthly for £55 a month.',
  );
});

test('beside it stand the discount, the days of an invoice that is sent, and where the amount is exact', () => {
  const exact = 'This is an estimate: the payment provider’s page shows the exact amount before you confirm.';
  expect(chargeNotes(estimate, plan)).toEqual([exact]);
  const until = (ends_at: string | null) =>
    ({ ...plan, days_until_due: 14, discounts: [{ once: false, ends_at }] }) as Plan;
  const sent = until('2026-12-23T00:00:00Z');
  expect(chargeNotes(estimate, sent)).toEqual([
    'That price is before your discount.',
    'Paid by invoice, due within 14 days.',
    exact,
  ]);
  expect(chargeNotes(estimate, until(null))).toEqual(chargeNotes(estimate, sent));
  expect(chargeNotes(estimate, until('2026-12-22T10:00:00Z'))).not.toContain('That price is before your discount.');
  expect(chargeNotes({ ...estimate, due: { amount: 0, currency: 'gbp' } }, plan)).toEqual([
    'You confirm on the payment provider’s page.',
  ]);
  expect(chargeNotes(null, sent)).toEqual(['The payment provider’s page shows what is charged before you confirm.']);
});

test('the query asks for a tier and an interval, or keeps the interval alone', () => {
  expect(changeQuery('gold', 'year')).toBe('ask=change&tier=gold&interval=year');
  expect(changeQuery('gold', null)).toBe('ask=change&tier=gold');
  expect(changeQuery(null, 'year')).toBe('interval=year');
});
