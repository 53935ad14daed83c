import { forPaidTiers, type PaidTier, type Plans, type Price } from '../plans/plans.ts';

/** What each paid tier costs at the provider; null where the declared price applies. */
export type LivePrices = Record<PaidTier, Price | null>;

export function noPrices(plans: Plans): LivePrices {
  return forPaidTiers(plans, () => null);
}

/** What one process knows of the prices at the provider. Times in milliseconds of the service's clock. */
export type PriceCache = {
  prices: LivePrices;
  /** Whether the provider has ever answered, here or on another node. */
  known: boolean;
  lookedUpAt: number | null;
  readAt: number | null;
  failedAt: number | null;
  lookup: Promise<void> | null;
};

export function createPriceCache(plans: Plans): PriceCache {
  return { prices: noPrices(plans), known: false, lookedUpAt: null, readAt: null, failedAt: null, lookup: null };
}
