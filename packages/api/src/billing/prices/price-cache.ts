import type { PaidTier, Price } from '../plans/plans.ts';

export type LivePrices = Record<PaidTier, Price | null>;

export const noPrices: LivePrices = { silver: null, gold: null };

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

export function createPriceCache(): PriceCache {
  return { prices: noPrices, known: false, lookedUpAt: null, readAt: null, failedAt: null, lookup: null };
}
