import type { Plan } from '#lib/subscription.ts';

/** The plan of an organisation without a subscription, as a member who is not an administrator reads it. */
export const freePlan: Plan = {
  tier: 'free',
  name: 'Free',
  status: 'none',
  cancel_at_period_end: false,
  current_period_end: null,
  ends_at: null,
  ended_unconfirmed_at: null,
  price: null,
  pays_for: null,
  change: null,
  trial_ended: false,
  collection_paused: false,
  days_until_due: null,
  held: null,
  cancel_ends_now: false,
  another_goes_on: false,
  subscription_ends_at: null,
  agreed: null,
  discounts: [],
  credit: null,
};
