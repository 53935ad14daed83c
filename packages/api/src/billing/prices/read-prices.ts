import { sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type LivePrice, paymentKnownPrices, paymentLivePrices } from '../../platform/db/schema/billing.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { type Offer, offersByLookupKey, type PriceTax, readOffer } from '../../platform/providers/payment/prices.ts';
import { type Interval, paidTiers, type SoldPrice } from '../plans/plans.ts';
import { saveSetting } from '../settings.ts';

/** A price at the provider. */
export type TierPrice = {
  id: string;
  productId: string | null;
  /** Its own currency. */
  currency: string;
  /** The currencies in which it can be bought. */
  currencies: string[];
  /** The amounts, as pages show them; null if the price has no fixed amount for one period. */
  shown: LivePrice['shown'];
  /** Whether tax is added to the amount or is in it; null where the price says neither. */
  tax: PriceTax | null;
};

/** What the plans sell, with its price at the provider; null where the provider does not sell it. */
export type TierPrices = (SoldPrice & { found: TierPrice | null })[];

/**
 * Asks the provider for the tiers' current prices, by lookup key or configured price id, and stores
 * them for all nodes. Each price stays known for its tier: earlier subscribers keep it.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
export async function readPrices(app: App, ask: Ask): Promise<TierPrices> {
  const { sold } = app.plans;
  const keys = sold.map(({ name }) => name);
  const listed = await offersByLookupKey(ask, keys, { active: true });

  const prices: TierPrices = [];
  for (const wanted of sold) {
    const byKey = listed.find((price) => price.lookupKey === wanted.name);
    const offer = byKey ?? (wanted.name.startsWith('price_') ? await readOffer(ask, wanted.name) : null);
    prices.push({ ...wanted, found: tierPriceOf(offer, hasSeveral(sold, wanted) ? wanted.interval : null) });
  }

  await storePrices(app, prices);
  app.priceCache.knownPrices = [];
  return prices;
}

function hasSeveral(sold: SoldPrice[], { tier }: SoldPrice): boolean {
  return sold.filter((each) => each.tier === tier).length > 1;
}

const intervals: Interval[] = ['day', 'week', 'month', 'year'];

/**
 * Null for a price that is archived or paid once, which cannot start a subscription, and for one of another interval
 * than the wanted one, which would charge a year for a month. A tier's only price may have any interval.
 */
function tierPriceOf(offer: Offer | null, wanted: Interval | null): TierPrice | null {
  if (offer === null || !offer.isActive || offer.recurring === null) return null;

  const { id, productId, currency, amounts, currencies, recurring, tax } = offer;
  const interval = intervals.find((each) => each === recurring.interval && recurring.count === 1);
  if (wanted !== null && interval !== wanted) return null;
  const hasAmount = interval !== undefined && amounts[currency] !== undefined;
  return { id, productId, currency, currencies, shown: hasAmount ? { interval, currency, amounts } : null, tax };
}

/** The name of the setting that holds whether tax is added to the prices or is in them; '' where they do not agree. */
export const taxSetting = 'prices_tax';

/** Returns what all prices say of their tax; null if one says nothing or another thing. */
function taxOf(prices: TierPrices): PriceTax | null {
  const [tax = null, ...others] = new Set(prices.flatMap(({ found }) => (found === null ? [] : found.tax)));
  return others.length === 0 ? tax : null;
}

async function storePrices(app: App, prices: TierPrices): Promise<void> {
  const lookedUpAt = app.now();
  const known = prices.flatMap(({ tier, found }) =>
    found === null
      ? []
      : [
          {
            priceId: found.id,
            productId: found.productId,
            tier,
            amounts: found.shown?.amounts ?? null,
            interval: found.shown?.interval ?? null,
          },
        ],
  );
  const live = paidTiers(app.plans).map((tier) => {
    const own = prices.filter((price) => price.tier === tier);
    return {
      tier,
      prices: own.map(({ interval, found }) => ({
        for: interval,
        sold: found !== null,
        id: found?.id ?? null,
        shown: found?.shown ?? null,
      })),
      lookedUpAt,
    };
  });

  await app.db.transaction(async (tx) => {
    await saveSetting(tx, taxSetting, taxOf(prices) ?? '');
    if (known.length > 0) {
      await tx
        .insert(paymentKnownPrices)
        .values(known)
        .onConflictDoUpdate({
          target: paymentKnownPrices.priceId,
          set: {
            tier: sql`excluded.tier`,
            productId: sql`excluded.product_id`,
            amounts: sql`excluded.amounts`,
            interval: sql`excluded.interval`,
          },
        });
    }
    await tx
      .insert(paymentLivePrices)
      .values(live)
      .onConflictDoUpdate({
        target: paymentLivePrices.tier,
        set: {
          prices: sql`excluded.prices`,
          lookedUpAt: sql`excluded.looked_up_at`,
        },
      });
  });
}
