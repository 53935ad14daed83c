import type { RouterOutputs } from '#lib/router.ts';

type SubscriptionAnswer = RouterOutputs['subscription']['read'];
type OverviewAnswer = RouterOutputs['subscription']['overview'];

/** `ended_unconfirmed_at` is when a scheduled end came that the provider has not confirmed; the billing page reads it. */
export type Plan = SubscriptionAnswer['plan'] & { ended_unconfirmed_at?: string | null };
/** `resets` is the kind of period that a counter follows, null for a gauge; the billing page reads it. */
export type Usage = SubscriptionAnswer['usage'][number] & { resets?: OverviewAnswer['usage'][number]['resets'] };
export type Tier = SubscriptionAnswer['tiers'][number];

/** The subscription summary as pages read it (GET /api/subscription answers the same). */
export type Summary = Omit<SubscriptionAnswer, 'plan' | 'usage'> & { plan: Plan; usage: Usage[] };

/** An amount is in the payment provider's minor units. */
export type Price = NonNullable<Tier['price']>;
