import { AppError } from '../../platform/errors.ts';
import type { PaidTier } from '../plans/plans.ts';
import type { SubscriptionFacts } from './read-plan.ts';

/** The subscription record in the answers of cancel and resume. */
export type SubscriptionRecord = {
  tier: PaidTier | null;
  status: string;
  /** True whenever an end is scheduled, in either of the provider's forms. */
  cancel_at_period_end: boolean;
  current_period_end: string | null;
  ends_at: string | null;
};

/** Returns the public form of a subscription record. @throws AppError VALIDATION if there is no subscription. */
export function recordOf(subscription: SubscriptionFacts | null): SubscriptionRecord {
  if (subscription === null) throw new AppError('VALIDATION', 'There is no paid plan.');
  const { tier, status, cancelAtPeriodEnd, currentPeriodEnd, endsAt } = subscription;
  return {
    tier,
    status,
    cancel_at_period_end: cancelAtPeriodEnd,
    current_period_end: currentPeriodEnd?.toISOString() ?? null,
    ends_at: endsAt?.toISOString() ?? null,
  };
}
