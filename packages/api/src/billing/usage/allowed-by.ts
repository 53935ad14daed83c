import type { Plans, Tier } from '../plans/plans.ts';

/** Returns the tiers whose limit of a meter is at least `needed`, in rising rank. */
export function allowedBy({ tiers }: Plans, meter: string, needed: number): Tier[] {
  return tiers
    .filter(({ limits }) => {
      const limit = limits[meter] ?? null;
      return limit === null || limit >= needed;
    })
    .map(({ tier }) => tier);
}
