import { sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentKnownPrices, paymentLivePrices, paymentSettings } from '../../platform/db/schema/billing.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { type Offer, offersByLookupKey, type PriceTax, readOffer } from '../../platform/providers/payment/prices.ts';
import { type PaidTier, type Price, paidTiers } from '../plans/plans.ts';

/** A tier's price at the provider. */
export type TierPrice = {
  id: string;
  productId: string | null;
  /** The amount, as pages show it; null if the price has no fixed amount for one period. */
  shown: Price | null;
  /** Whether tax is added to the amount or is in it; null where the price says neither. */
  tax: PriceTax | null;
};

/** The price of each paid tier, in rising rank; null for a tier that the provider does not sell. */
export type TierPrices = Record<PaidTier, TierPrice | null>;

/**
 * Asks the provider for the tiers' current prices, by lookup key or configured price id, and stores
 * them for all nodes. Each price stays known for its tier: earlier subscribers keep it.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
export async function readPrices(app: App, ask: Ask): Promise<TierPrices> {
  const names = Object.entries(app.plans.priceNames);
  const keys = names.map(([, name]) => name);
  const listed = await offersByLookupKey(ask, keys, { active: true });

  const prices: TierPrices = {};
  for (const [tier, name] of names) {
    const byKey = listed.find((price) => price.lookupKey === name);
    prices[tier] = tierPriceOf(byKey ?? (name.startsWith('price_') ? await readOffer(ask, name) : null));
  }

  await storePrices(app, prices);
  return prices;
}

const intervals: Price['interval'][] = ['day', 'week', 'month', 'year'];

/** Null for a price that is archived or paid once: it cannot start a subscription. */
function tierPriceOf(offer: Offer | null): TierPrice | null {
  if (offer === null || !offer.isActive || offer.recurring === null) return null;

  const { id, productId, amount, currency, recurring } = offer;
  const interval = intervals.find((each) => each === recurring.interval);
  const shown =
    amount !== null && recurring.count === 1 && interval !== undefined ? { amount, currency, interval } : null;
  return { id, productId, shown, tax: offer.tax };
}

/** The name of the setting that holds whether tax is added to the prices or is in them; '' where they do not agree. */
export const taxSetting = 'prices_tax';

/** Returns what all prices say of their tax; null if one says nothing or another thing. */
function taxOf(prices: TierPrices): PriceTax | null {
  const [tax = null, ...others] = new Set(Object.values(prices).flatMap((price) => (price === null ? [] : price.tax)));
  return others.length === 0 ? tax : null;
}

async function storePrices(app: App, prices: TierPrices): Promise<void> {
  const lookedUpAt = app.now();
  const known = Object.entries(prices).flatMap(([tier, price]) =>
    price === null ? [] : [{ priceId: price.id, productId: price.productId, tier }],
  );
  const live = paidTiers(app.plans).map((tier) => ({
    tier,
    sold: prices[tier] !== null,
    amount: prices[tier]?.shown?.amount ?? null,
    currency: prices[tier]?.shown?.currency ?? null,
    interval: prices[tier]?.shown?.interval ?? null,
    lookedUpAt,
  }));

  await app.db.transaction(async (tx) => {
    const setting = { name: taxSetting, value: taxOf(prices) ?? '' };
    await tx.insert(paymentSettings).values(setting).onConflictDoUpdate({ target: paymentSettings.name, set: setting });
    if (known.length > 0) {
      await tx
        .insert(paymentKnownPrices)
        .values(known)
        .onConflictDoUpdate({
          target: paymentKnownPrices.priceId,
          set: { tier: sql`excluded.tier`, productId: sql`excluded.product_id` },
        });
    }
    await tx
      .insert(paymentLivePrices)
      .values(live)
      .onConflictDoUpdate({
        target: paymentLivePrices.tier,
        set: {
          sold: sql`excluded.sold`,
          amount: sql`excluded.amount`,
          currency: sql`excluded.currency`,
          interval: sql`excluded.interval`,
          lookedUpAt: sql`excluded.looked_up_at`,
        },
      });
  });
}
