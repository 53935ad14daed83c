import { expect, test } from 'vitest';
import type { Plan, Tier } from '../../subscription.ts';
import { hasSubscription, isPaymentDue, mayCancel, paymentFacts, planSentence, statusText } from './plan-text.ts';
import { freePlan } from './testing/free-plan.ts';

const silver: Plan = {
  ...freePlan,
  tier: 'silver',
  name: 'Silver',
  status: 'active',
  current_period_end: '2026-12-03T00:00:00Z',
  price: { amount: 2400, currency: 'gbp', interval: 'month', quantity: 1 },
};
const ending: Plan = { ...silver, cancel_at_period_end: true, ends_at: '2026-12-03T00:00:00Z' };
const wasEnding = { cancel_at_period_end: true, cancel_ends_now: true, ends_at: '2026-12-03T00:00:00Z' };
const agreedTier = { tier: true, meters: [], features: [], until: '2027-06-01T00:00:00Z' };
const tiers: Tier[] = [
  { tier: 'free', name: 'Free', price: null, price_source: 'declared', limits: {}, features: {} },
  {
    tier: 'silver',
    name: 'Silver',
    price: { amount: 2400, currency: 'gbp', interval: 'month' },
    price_source: 'provider',
    limits: {},
    features: {},
  },
];

test.each([
  [silver, 'Active', '£24 / month. Renews on 3 December 2026.'],
  [ending, 'Ending', '£24 / month. Ends on 3 December 2026, then Free.'],
  [{ ...silver, status: 'past_due' }, 'Payment due', '£24 / month.'],
  [
    { ...silver, status: 'past_due', cancel_at_period_end: true },
    'Payment due',
    '£24 / month. Ends on 3 December 2026, then Free.',
  ],
  [{ ...silver, price: null }, 'Active', 'Renews on 3 December 2026.'],
  [
    { ...silver, days_until_due: 14 },
    'Active',
    '£24 / month. Renews on 3 December 2026. Paid by invoice, due within 14 days.',
  ],
  [
    { ...silver, price: { amount: 1900, currency: 'gbp', interval: 'year' as const, quantity: 1 } },
    'Active',
    '£19 / year. Renews on 3 December 2026.',
  ],
  [
    { ...silver, change: { name: 'Free', interval: null, at: '2026-12-03T00:00:00Z' } },
    'Active',
    '£24 / month. Silver until 3 December 2026, then Free.',
  ],
  [
    { ...silver, change: { name: 'Silver', interval: 'year' as const, at: '2026-12-03T00:00:00Z' } },
    'Active',
    '£24 / month. Silver monthly until 3 December 2026, then Silver yearly.',
  ],
  ...[
    { name: 'Silver', interval: 'month' as const, at: '2026-12-03T00:00:00Z' },
    { name: 'Silver', interval: null, at: '2026-12-03T00:00:00Z' },
    { name: null, interval: 'year' as const, at: '2026-12-03T00:00:00Z' },
  ].map((change): [Plan, string, string] => [
    { ...silver, change },
    'Active',
    '£24 / month. Silver until 3 December 2026, then it changes.',
  ]),
  // An operator agreed on Silver beside a lower subscription, which is the one that ends.
  [{ ...ending, agreed: agreedTier, ends_at: null }, 'Ending', '£24 / month. Your paid plan ends on 3 December 2026.'],
  [
    { ...ending, agreed: agreedTier, ends_at: null, current_period_end: null },
    'Ending',
    '£24 / month. Your paid plan ends with the paid period.',
  ],
  [
    { ...ending, agreed: agreedTier, ends_at: null, subscription_ends_at: '2027-03-03T00:00:00Z' },
    'Ending',
    '£24 / month. Your paid plan ends on 3 March 2027.',
  ],
  [{ ...silver, collection_paused: true }, 'Active', '£24 / month. Payments are paused.'],
  [
    { ...silver, credit: { amount: 1250, currency: 'gbp' } },
    'Active',
    '£24 / month. Renews on 3 December 2026. You have £12.50 in credit, which pays your next invoices.',
  ],
  [
    {
      ...silver,
      discounts: [
        { percent: 12.5, amount: null, once: false, ends_at: '2027-02-03T00:00:00Z' },
        { percent: null, amount: { amount: 500, currency: 'gbp' }, once: true, ends_at: null },
      ],
    },
    'Active',
    '£24 / month. 12.5% off until 3 February 2027. £5 off the next invoice. Renews on 3 December 2026.',
  ],
  [
    { ...silver, status: 'trialing', payment_method: 'visa 4242' },
    'On trial',
    '£24 / month. Free until 3 December 2026, then paid from Visa ending in 4242.',
  ],
  [
    { ...silver, status: 'trialing', payment_method: null },
    'On trial',
    '£24 / month. Free until 3 December 2026. Add a card by then to keep Silver; without one it pauses.',
  ],
  [{ ...silver, status: 'trialing' }, 'On trial', '£24 / month. The trial ends on 3 December 2026.'],
  [
    { ...silver, status: 'trialing', payment_method: null, days_until_due: 14 },
    'On trial',
    '£24 / month. Free until 3 December 2026. Paid by invoice, due within 14 days.',
  ],
  [freePlan, undefined, 'Free of charge.'],
  [{ ...freePlan, status: 'canceled' }, undefined, 'Free of charge. Your paid plan has ended.'],
  // What was agreed is not the price of a plan that ended, and a change of the subscription does not end it.
  [{ ...silver, status: 'canceled', agreed: agreedTier }, undefined, ''],
  [
    {
      ...silver,
      name: 'Gold',
      agreed: agreedTier,
      change: { name: 'Silver', interval: 'year' as const, at: '2026-12-03T00:00:00Z' },
    },
    'Active',
    '£24 / month. Renews on 3 December 2026.',
  ],
  [{ ...freePlan, status: 'past_due' }, 'Payment due', 'Your paid plan is off until its invoice is paid.'],
  [{ ...freePlan, status: 'unpaid' }, 'Unpaid', 'Your paid plan is off until its invoice is paid.'],
  [
    { ...freePlan, status: 'incomplete' },
    'Awaiting first payment',
    'Your paid plan starts once its first payment arrives.',
  ],
  [{ ...freePlan, status: 'paused' }, 'Paused', 'Your paid plan is paused. Choose a plan to start it again.'],
  [
    { ...freePlan, status: 'paused', trial_ended: true, payment_method: null },
    'Paused',
    'Your trial has ended. Add a card to start your paid plan.',
  ],
  [
    { ...freePlan, status: 'paused', trial_ended: true, payment_method: 'visa 0341' },
    'Paused',
    'Your paid plan is paused. Choose a plan to start it again.',
  ],
  [
    { ...freePlan, status: 'active', ended_unconfirmed_at: '2026-12-03T00:00:00Z' },
    'Ended',
    'Your paid plan ended on 3 December 2026. The payment provider hasn’t confirmed it yet.',
  ],
  [
    { ...freePlan, status: 'active', held: 'disputed' as const },
    'Payment disputed',
    expect.stringContaining('at the bank'),
  ],
  [
    { ...freePlan, status: 'active', held: 'lost' as const },
    'Payment failed',
    expect.stringContaining('Cancel it to choose a plan now'),
  ],
  [
    { ...freePlan, status: 'active', held: 'uncollectible' as const },
    'Unpaid',
    'Your paid plan is off until its invoice is paid.',
  ],
  [{ ...freePlan, status: 'active', held: 'void' as const }, 'Payment failed', expect.stringContaining('try again')],
  // What ends at once when it is cancelled says why it is off, also where it was set to end.
  [{ ...freePlan, ...wasEnding, status: 'unpaid' }, 'Unpaid', 'Your paid plan is off until its invoice is paid.'],
  [
    { ...freePlan, ...wasEnding, status: 'active', held: 'uncollectible' as const },
    'Unpaid',
    'Your paid plan is off until its invoice is paid.',
  ],
  [
    { ...freePlan, ...wasEnding, status: 'active', held: 'lost' as const },
    'Payment failed',
    expect.stringContaining('The bank took back a payment'),
  ],
  [{ ...freePlan, status: 'something_new' }, 'On hold', expect.stringContaining('can’t read')],
  [{ ...freePlan, status: 'active' }, 'Active', expect.stringContaining('can’t read')],
])('%o', (plan, status, sentence) => {
  expect(statusText(plan)?.text).toBe(status);
  expect(planSentence(plan, tiers)).toEqual(sentence);
});

test('a subscription that has ended does not count, one of an unknown status does', () => {
  const ended: Plan = { ...silver, status: 'past_due', ended_unconfirmed_at: '2026-12-03T00:00:00Z' };
  expect(hasSubscription(ended)).toBe(false);
  expect(isPaymentDue(ended)).toBe(false);
  expect(hasSubscription({ ...silver, status: 'canceled' })).toBe(false);
  expect(hasSubscription({ ...silver, status: 'something_new' })).toBe(true);
});

test.each([
  ['past_due', true],
  ['unpaid', true],
  ['incomplete', true],
  ['paused', false],
  ['active', false],
  ['none', false],
])('while %s, a payment is due before a change: %s', (status, due) => {
  expect(isPaymentDue({ ...silver, status })).toBe(due);
});

test('a debt that was written off is due, a first payment that bounced is not', () => {
  expect(isPaymentDue({ ...freePlan, status: 'active', held: 'uncollectible' })).toBe(true);
  expect(isPaymentDue({ ...freePlan, status: 'active', held: 'void' })).toBe(false);
});

test('the plan that follows has the name that the free tier has in the plans', () => {
  const renamed = tiers.map((tier) => (tier.tier === 'free' ? { ...tier, name: 'Starter' } : tier));
  expect(planSentence(ending, renamed)).toBe('£24 / month. Ends on 3 December 2026, then Starter.');
});

test.each([
  [{ amount: { amount: 2400, currency: 'gbp' }, payment_method: 'visa 4242' }, '£24 from Visa ending in 4242.'],
  [{ amount: { amount: 2400, currency: 'gbp' }, payment_method: 'some_pay' }, '£24 from some pay.'],
  [{ amount: { amount: 2400, currency: 'gbp' }, payment_method: null }, '£24 is due.'],
  [{ amount: null, payment_method: 'visa 4242' }, ''],
  [
    { amount: null, payment_method: null, next_attempt_at: '2026-12-03T00:00:00Z' },
    'The next attempt is on 3 December 2026.',
  ],
])('a failed payment: %o', (facts, sentence) => {
  const notice = { kind: 'payment_failed' as const, invoice_url: null, grace_ends_at: null, next_attempt_at: null };
  expect(paymentFacts({ ...notice, ...facts })).toBe(sentence);
});

test.each([
  ['runs', {}, true],
  ['is set to end', { cancel_at_period_end: true }, false],
  ['is set to end, and cancel would end at once', { cancel_at_period_end: true, cancel_ends_now: true }, true],
  ['is set to end beside another that goes on', { cancel_at_period_end: true, another_goes_on: true }, true],
  [
    'is set to end after further periods',
    {
      cancel_at_period_end: true,
      current_period_end: '2026-12-03T00:00:00.000Z',
      subscription_ends_at: '2027-03-03T00:00:00.000Z',
    },
    true,
  ],
  ['has ended', { status: 'canceled', another_goes_on: false }, false],
])('whether cancel would end something, of a plan that %s', (_, facts, expected) => {
  expect(mayCancel({ ...freePlan, status: 'active', ...facts })).toBe(expected);
});
