import type { RouterOutputs } from '#lib/router.ts';

type Overview = RouterOutputs['subscription']['overview'];

/** The subscription summary as pages read it: that of GET /api/subscription, and what only pages tell. */
export type Summary = Omit<Overview, 'notice'>;
export type Plan = Overview['plan'];
export type Usage = Overview['usage'][number];
export type Tier = Overview['tiers'][number];

/** What an administrator is told of an open payment problem. */
export type PaymentNotice = NonNullable<Overview['notice']>;

/** An amount is in the payment provider's minor units. */
export type Price = NonNullable<Tier['price']>;
