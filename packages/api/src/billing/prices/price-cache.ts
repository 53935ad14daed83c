import type { LivePrice, paymentKnownPrices } from '../../platform/db/schema/billing.ts';
import type { PriceTax } from '../../platform/providers/payment/prices.ts';
import { forPaidTiers, type Interval, type PaidTier, type Plans } from '../plans/plans.ts';

/** The prices of each paid tier at the provider, by the interval that the plans declare; none where the declared ones apply. */
export type LivePrices = Record<PaidTier, LivePrice[]>;

/** A price that a tier has or has had. */
export type KnownPrice = typeof paymentKnownPrices.$inferSelect;

/** The provider's prices in the memory of one process. Times in milliseconds of the service's clock. */
export type PriceCache = {
  prices: LivePrices;
  /** What the plans sell and the provider does not: a tier may be sold for its other interval. */
  unsold: { tier: PaidTier; interval: Interval }[];
  /** Whether tax is added to the prices or is in them; null where they do not say it or do not agree. */
  tax: PriceTax | null;
  /** Whether any node has stored an answer of the provider. */
  known: boolean;
  lookedUpAt: number | null;
  readAt: number | null;
  failedAt: number | null;
  lookup: Promise<void> | null;
  /** Every price that a tier has ever had, as this process last read them: events match their tier by these. */
  knownPrices: KnownPrice[];
};

/** Returns a cache that has read nothing: the declared prices apply. */
export function createPriceCache(plans: Plans): PriceCache {
  return {
    prices: noPrices(plans),
    unsold: [],
    tax: null,
    known: false,
    lookedUpAt: null,
    readAt: null,
    failedAt: null,
    lookup: null,
    knownPrices: [],
  };
}

/** Returns prices of which the provider knows none. */
export function noPrices(plans: Plans): LivePrices {
  return forPaidTiers(plans, () => []);
}
