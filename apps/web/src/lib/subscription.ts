import type { RouterOutputs } from '#lib/router.ts';

type Read = RouterOutputs['subscription']['read'];

/** `ended_unconfirmed_at` is when a scheduled end came that the provider has not confirmed; the billing page reads it. */
export type Plan = Read['plan'] & { ended_unconfirmed_at?: string | null };
export type Usage = Read['usage'][number];
export type Tier = Read['tiers'][number];

/** The subscription summary as pages read it (GET /api/subscription answers the same). */
export type Summary = Omit<Read, 'plan'> & { plan: Plan };

/** An amount is in the payment provider's minor units. */
export type Price = NonNullable<Tier['price']>;
