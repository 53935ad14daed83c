import type { PaidTier, Price } from '../plans/plans.ts';

/** A tier's price at the provider. */
export type TierPrice = {
  id: string;
  productId: string | null;
  /** The amount, as pages show it; null if the price has no fixed amount for one period. */
  shown: Price | null;
};

/** The price of each paid tier, in rising rank; null for a tier that the provider does not sell. */
export type TierPrices = Record<PaidTier, TierPrice | null>;
