import type { PaidTier, Price } from '../plans/plans.ts';

export type TierPrice = {
  id: string;
  productId: string | null;
  /** What can be shown of it; null where one number for one period does not tell it. */
  shown: Price | null;
};
export type TierPrices = Record<PaidTier, TierPrice | null>;
