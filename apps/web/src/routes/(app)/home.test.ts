import { expect, test } from 'vitest';
import { freePlan } from '#lib/format/plans/testing/free-plan.ts';
import { homeNotices, type Overview } from './home-notices.ts';
import { homeSentence } from './home-text.ts';
import { setupSteps } from './setup-steps.ts';

const tier = { price: null, price_source: 'declared' as const, limits: {}, features: {} };
const free: Overview['plan'] = { ...freePlan, payment_method: null };
const silver = {
  ...free,
  tier: 'silver',
  name: 'Silver',
  status: 'active',
  current_period_end: '2026-12-22T00:00:00Z',
};
const trial = {
  ...silver,
  status: 'trialing',
  price: { amount: 2400, currency: 'gbp', interval: 'month' as const, quantity: 1 },
};
const failed = {
  kind: 'payment_failed',
  invoice_url: 'https://pay.example/1',
  grace_ends_at: '2026-11-29T00:00:00Z',
  amount: null,
  next_attempt_at: null,
  payment_method: null,
};

function overviewOf(plan: Overview['plan'], other: Partial<Overview> = {}): Overview {
  return {
    organisation: { id: 'id', slug: 'larch', name: 'Larch' },
    plan,
    usage: [{ meter: 'members', name: 'Members', used: 1, limit: 2, resets_at: null, resets: null }],
    features: {},
    tiers: [
      { ...tier, tier: 'free', name: 'Free' },
      { ...tier, tier: 'silver', name: 'Silver' },
      { ...tier, tier: 'gold', name: 'Gold' },
    ],
    billing_enabled: true,
    notice: null,
    currency: { currency: 'gbp', choices: [] },
    tax: null,
    trials: {},
    unavailable_prices: [],
    ...other,
  };
}

const open = (facts: Partial<Parameters<typeof setupSteps>[0]> = {}) =>
  setupSteps({ overview: overviewOf(free), members: 1, isAdministrator: true, hasName: false, ...facts }).map(
    ({ title, done }) => [title.split(' ')[0], done],
  );

test('the checklist keeps its done steps until all are done, and then disappears', () => {
  expect(open()).toEqual([
    ['Add', false],
    ['Invite', false],
    ['Choose', false],
  ]);
  expect(open({ hasName: true, members: 2 })).toEqual([
    ['Add', true],
    ['Invite', true],
    ['Choose', false],
  ]);
  expect(open({ hasName: true, members: 2, overview: overviewOf(silver) })).toEqual([]);
});

test('the checklist has only steps that the user can take', () => {
  expect(open({ isAdministrator: false })).toEqual([['Add', false]]);
  expect(open({ isAdministrator: false, hasName: true })).toEqual([]);
  expect(open({ overview: overviewOf(free, { billing_enabled: false }) }).map(([step]) => step)).toEqual([
    'Add',
    'Invite',
  ]);
  const alone = [{ meter: 'members', name: 'Members', used: 1, limit: 1, resets_at: null, resets: null }];
  expect(open({ overview: overviewOf(free, { usage: alone }) }).map(([step]) => step)).toEqual(['Add', 'Choose']);
});

test.each([
  ['a failed payment with days left', { ...silver, status: 'past_due' }, failed, 'Pay by 29 November to keep Silver.'],
  [
    'a payment that the bank wants confirmed',
    { ...silver, status: 'past_due' },
    { ...failed, kind: 'action_required' },
    'Confirm it by 29 November to keep Silver.',
  ],
  [
    'a failed payment after those days',
    { ...free, status: 'past_due' },
    failed,
    'Your paid plan is off until its invoice is paid.',
  ],
  ['an unpaid plan', { ...free, status: 'unpaid' }, null, 'Your paid plan is off until its invoice is paid.'],
  ['a first payment', { ...free, status: 'incomplete' }, null, 'Your paid plan starts once its first payment arrives.'],
])('%s comes first, in the most urgent tone, with a link that pays or leads there', (_, plan, notice, text) => {
  const seats = [{ meter: 'members', name: 'Members', used: 3, limit: 2, resets_at: null, resets: null }];
  const notices = homeNotices(overviewOf(plan, { notice: notice as Overview['notice'], usage: seats }), 3);
  expect(notices.map(({ tone }) => tone)).toEqual(['bad', 'warn']);
  expect(notices[0]).toMatchObject({ text, href: notice ? notice.invoice_url : '/billing' });
});

test('the notice of a scheduled end has its date and the plan that follows; without a problem there is no notice', () => {
  const ending = { ...silver, cancel_at_period_end: true, ends_at: '2026-12-22T00:00:00Z' };
  expect(homeNotices(overviewOf(ending), 1)).toMatchObject([
    { title: 'Silver ends on 22 December 2026', text: 'Then you move to Free. Change your mind any time before.' },
  ]);
  expect(homeNotices(overviewOf(silver), 1)).toEqual([]);
  expect(homeNotices(overviewOf({ ...silver, status: 'past_due' }, { billing_enabled: false }), 1)).toEqual([]);
});

test('where an operator agreed on the plan, the notices of a lower subscription do not say that it ends', () => {
  const agreed = { tier: true, meters: [], features: [], until: null };
  const beside = { ...silver, tier: 'gold', name: 'Gold', agreed };
  const ending = { ...beside, cancel_at_period_end: true, ends_at: null };
  expect(homeNotices(overviewOf(ending), 1)).toMatchObject([
    { title: 'Your paid plan ends on 22 December 2026', text: 'You can change your mind any time before.' },
  ]);
  expect(homeSentence(ending, 1)).toBe('Gold plan. Just you so far.');

  const text = (plan: Overview['plan'], notice: Partial<typeof failed>) =>
    homeNotices(overviewOf(plan, { notice: { ...failed, ...notice } as Overview['notice'] }), 1)[0]?.text;
  const due = { ...beside, status: 'past_due' };
  expect(text(due, {})).toBe('Pay by 29 November to keep your paid plan.');
  expect(text(due, { kind: 'action_required' })).toBe('Confirm it by 29 November to keep your paid plan.');
  expect(text({ ...due, status: 'unpaid', cancel_ends_now: true }, { grace_ends_at: null as never })).toBe(
    'Your paid plan is off until its invoice is paid.',
  );
});

test('a trial that ends in a pause is a notice that leads to a card, unless one is there or its end is wanted', () => {
  expect(homeNotices(overviewOf(trial), 1)).toMatchObject([
    {
      title: 'Your trial ends on 22 December 2026',
      text: 'Add a card by then to keep Silver; without one it pauses.',
      href: '/billing',
      action: 'Add a card',
    },
  ]);
  for (const other of [{ payment_method: 'visa 4242' }, { days_until_due: 14 }])
    expect(homeNotices(overviewOf({ ...trial, ...other }), 1)).toEqual([]);
  const ending = overviewOf({ ...trial, cancel_at_period_end: true });
  expect(homeNotices(ending, 1)).toMatchObject([{ title: 'Silver ends on 22 December 2026' }]);
});

test('after a trial that ended without a card a notice leads to one, and after another pause there is none', () => {
  const paused = { ...free, status: 'paused', trial_ended: true };
  expect(homeNotices(overviewOf(paused), 1)).toMatchObject([
    { title: 'Your trial has ended', text: 'Add a card to start your paid plan.', action: 'Add a card' },
  ]);
  expect(homeNotices(overviewOf({ ...paused, trial_ended: false }), 1)).toEqual([]);
  expect(homeNotices(overviewOf({ ...paused, payment_method: 'visa 0341' }), 1)).toEqual([]);
});

test.each([
  [silver, 1, 'Silver, renews on 22 December 2026. Just you so far.'],
  [{ ...silver, cancel_at_period_end: true }, 4, 'Silver until 22 December 2026. Four members.'],
  [
    { ...silver, change: { name: 'Free', interval: null, at: '2026-12-22T00:00:00Z' } },
    1,
    'Silver until 22 December 2026, then Free. Just you so far.',
  ],
  [
    {
      ...silver,
      price: { amount: 24_000, currency: 'gbp', interval: 'year' as const, quantity: 1 },
      change: { name: 'Silver', interval: 'month' as const, at: '2026-12-22T00:00:00Z' },
    },
    1,
    'Silver yearly until 22 December 2026, then Silver monthly. Just you so far.',
  ],
  [{ ...silver, status: 'past_due' }, 12, 'Silver plan. 12 members.'],
  [trial, 1, 'Silver, free until 22 December 2026. Just you so far.'],
  [{ ...trial, payment_method: undefined }, 4, 'Silver, free until 22 December 2026. Four members.'],
  [
    {
      ...trial,
      payment_method: 'visa 4242',
      discounts: [{ percent: 25, amount: null, once: false, ends_at: '2027-12-22T00:00:00Z' }],
    },
    1,
    'Silver, free until 22 December 2026, then £24 / month from Visa ending in 4242. 25% off until 22 December 2027. Just you so far.',
  ],
  [{ ...trial, cancel_at_period_end: true }, 1, 'Silver until 22 December 2026. Just you so far.'],
  [free, 1, 'Free plan. Just you so far.'],
  [{ ...silver, tier: 'free', name: 'Free', held: 'disputed' as const }, 1, 'Free plan. Just you so far.'],
])('%o with %i members reads: %s', (plan, members, sentence) => {
  expect(homeSentence(plan, members)).toBe(sentence);
});

test.each([
  ['disputed', 'A payment is disputed', 'at the bank'],
  ['lost', 'Your payment failed', 'Cancel it to choose a plan now'],
  ['void', 'Your payment failed', 'Choose a plan to try again'],
  ['uncollectible', 'Your payment failed', 'off until its invoice is paid'],
] as const)('home says why an active subscription gives no plan: %s', (held, title, text) => {
  const plan = { ...free, status: 'active', held };
  expect(homeNotices(overviewOf(plan), 1)).toMatchObject([{ title, text: expect.stringContaining(text) }]);
});
