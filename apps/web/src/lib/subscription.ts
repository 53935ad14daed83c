import type { RouterOutputs } from '#lib/router.ts';

type SubscriptionAnswer = RouterOutputs['subscription']['read'];
type OverviewAnswer = RouterOutputs['subscription']['overview'];

type OverviewPlan = OverviewAnswer['plan'];

/** What only pages read of a plan: an end that is not confirmed yet, a change ahead, a pause, credit. */
export type Plan = SubscriptionAnswer['plan'] & Partial<Omit<OverviewPlan, keyof SubscriptionAnswer['plan']>>;
/** `resets` is the kind of period that a counter follows, null for a gauge; the billing page reads it. */
export type Usage = SubscriptionAnswer['usage'][number] & { resets?: OverviewAnswer['usage'][number]['resets'] };
export type Tier = SubscriptionAnswer['tiers'][number];

/** The subscription summary as pages read it (GET /api/subscription answers the same). */
export type Summary = Omit<SubscriptionAnswer, 'plan' | 'usage'> & {
  plan: Plan;
  usage: Usage[];
  unavailable_tiers?: string[];
  tax?: OverviewAnswer['tax'];
  currency?: OverviewAnswer['currency'];
  trials?: OverviewAnswer['trials'];
};

/** What an administrator is told of an open payment problem. */
export type PaymentNotice = NonNullable<OverviewAnswer['notice']>;

/** An amount is in the payment provider's minor units. */
export type Price = NonNullable<Tier['price']>;
