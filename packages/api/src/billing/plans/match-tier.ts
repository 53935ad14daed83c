import type { SubscriptionState } from '../projection/subscription-state.ts';
import type { PaidTier } from './plans.ts';

export type KnownPrice = { priceId: string; productId: string | null; tier: PaidTier };
export type TierSource = 'price' | 'lookup_key' | 'product' | 'metadata';
export type TierMatch = { tier: PaidTier | null; source: TierSource | null; priceId: string | null };

/**
 * Finds the tier that a subscription pays for: by its price, then by that price's lookup key,
 * then by its product if all known prices of the product are of one tier, and last by our own
 * metadata, which keep the first tier after a change in the portal. A tier that the plans no
 * longer hold never matches. The tier is null if nothing matches.
 *
 * `names` holds each paid tier's lookup key or price id.
 */
export function matchTier(
  { items, metadata }: Pick<SubscriptionState, 'items' | 'metadata'>,
  allKnown: KnownPrice[],
  names: Record<PaidTier, string>,
): TierMatch {
  const tiers = Object.keys(names);
  const known = allKnown.filter((price) => tiers.includes(price.tier));
  const steps: [TierSource, (item: SubscriptionState['items'][number]) => PaidTier | null][] = [
    ['price', ({ priceId }) => tierOfPrice(priceId, known) ?? tierOfName(priceId, names)],
    ['lookup_key', ({ lookupKey }) => tierOfName(lookupKey, names)],
    ['product', ({ productId }) => tierOfProduct(productId, known)],
  ];
  for (const [source, match] of steps) {
    for (const item of items) {
      const tier = match(item);
      if (tier !== null) return { tier, source, priceId: item.priceId };
    }
  }

  const tier = tiers.find((each) => each === metadata.tier) ?? null;
  return { tier, source: tier === null ? null : 'metadata', priceId: items[0]?.priceId ?? null };
}

function tierOfPrice(priceId: string | null, known: KnownPrice[]): PaidTier | null {
  return known.find((price) => price.priceId === priceId)?.tier ?? null;
}

function tierOfName(name: string | null, names: Record<PaidTier, string>): PaidTier | null {
  return Object.keys(names).find((tier) => names[tier] === name) ?? null;
}

function tierOfProduct(productId: string | null, known: KnownPrice[]): PaidTier | null {
  if (productId === null) return null;
  const tiers = new Set(known.filter((price) => price.productId === productId).map((price) => price.tier));
  return tiers.size === 1 ? ([...tiers][0] ?? null) : null;
}
