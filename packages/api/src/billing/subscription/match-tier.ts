import type { App } from '../../app.ts';
import type { Executor } from '../../platform/db/client.ts';
import { paymentKnownPrices } from '../../platform/db/schema/billing.ts';
import type { SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import type { PaidTier, SoldPrice } from '../plans/plans.ts';
import type { KnownPrice } from '../prices/price-cache.ts';

/**
 * Finds the tier that a subscription pays for, by the prices that this process has in memory. Only if none of those is
 * its price, the stored ones are read: another node may have met the price first.
 */
export async function tierOfSubscription(
  app: App,
  db: Executor,
  state: Pick<SubscriptionState, 'items' | 'metadata'>,
): Promise<TierMatch> {
  const names = app.plans.sold;
  const remembered = matchTier(state, app.priceCache.knownPrices, names);
  if (remembered.source === 'price') return remembered;

  app.priceCache.knownPrices = await db.select().from(paymentKnownPrices);
  return matchTier(state, app.priceCache.knownPrices, names);
}

type TierSource = 'price' | 'price_metadata' | 'lookup_key' | 'product' | 'metadata';
export type TierMatch = { tier: PaidTier | null; source: TierSource | null; priceId: string | null };
const none: TierMatch = { tier: null, source: null, priceId: null };

/**
 * Finds the tier that a subscription pays for: by an item's price, then by what that price's metadata name (a negotiated
 * price), then by its lookup key, then by its product if all known prices of the product are of one tier. Of several paid items the
 * best tier counts. Last come our own metadata, which keep the first tier after a change in the
 * portal. A tier that the plans no longer hold never matches. The tier is null if nothing matches.
 *
 * `sold` holds the lookup keys or price ids of the paid tiers, in rising rank.
 */
export function matchTier(
  { items, metadata }: Pick<SubscriptionState, 'items' | 'metadata'>,
  allKnown: Pick<KnownPrice, 'priceId' | 'productId' | 'tier'>[],
  sold: SoldName[],
): TierMatch {
  const tiers = [...new Set(sold.map(({ tier }) => tier))];
  const known = allKnown.filter((price) => tiers.includes(price.tier));
  const rank = (tier: PaidTier | null) => (tier === null ? -1 : tiers.indexOf(tier));
  const steps: [TierSource, (item: SubscriptionState['items'][number]) => PaidTier | null][] = [
    ['price', ({ priceId }) => known.find((each) => each.priceId === priceId)?.tier ?? tierOfName(priceId, sold)],
    ['price_metadata', ({ priceTier }) => tiers.find((tier) => tier === priceTier) ?? null],
    ['lookup_key', ({ lookupKey }) => tierOfName(lookupKey, sold)],
    ['product', ({ productId }) => tierOfProduct(productId, known)],
  ];
  const matchOf = (item: SubscriptionState['items'][number]): TierMatch => {
    for (const [source, match] of steps) {
      const tier = match(item);
      if (tier !== null) return { tier, source, priceId: item.priceId };
    }
    return none;
  };
  const paid = items.filter(({ quantity }) => quantity > 0);
  const matches = (paid.length > 0 ? paid : items).map(matchOf);
  const best = matches.reduce((one, other) => (rank(other.tier) > rank(one.tier) ? other : one), none);
  if (best.tier !== null) return best;

  const tier = tiers.find((each) => each === metadata.tier) ?? null;
  return { tier, source: tier === null ? null : 'metadata', priceId: items[0]?.priceId ?? null };
}

type SoldName = Pick<SoldPrice, 'tier' | 'name'>;

function tierOfName(name: string | null, sold: SoldName[]): PaidTier | null {
  return sold.find((each) => each.name === name)?.tier ?? null;
}

function tierOfProduct(productId: string | null, known: Pick<KnownPrice, 'productId' | 'tier'>[]): PaidTier | null {
  if (productId === null) return null;
  const tiers = new Set(known.filter((price) => price.productId === productId).map((price) => price.tier));
  return tiers.size === 1 ? ([...tiers][0] ?? null) : null;
}
