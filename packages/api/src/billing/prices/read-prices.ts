import { sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentKnownPrices, paymentLivePrices } from '../../platform/db/schema/billing.ts';
import { type Ask, isMissing } from '../../platform/providers/payment.ts';
import { idOf, textOf } from '../../platform/providers/untrusted-json.ts';
import { type PaidTier, type Price, paidTiers } from '../plans/plans.ts';

/** A tier's price at the provider. */
export type TierPrice = {
  id: string;
  productId: string | null;
  /** The amount, as pages show it; null if the price has no fixed amount for one period. */
  shown: Price | null;
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
  const listed = await listByLookupKey(
    ask,
    names.map(([, name]) => name),
    { active: true },
  );

  const prices: TierPrices = {};
  for (const [tier, name] of names) {
    const byKey = listed.find((price) => price.lookup_key === name);
    prices[tier] = readPrice(byKey ?? (await retrievePrice(ask, name)));
  }

  await storePrices(app, prices);
  return prices;
}

type ProviderPrice = {
  id: string;
  active: boolean;
  product: unknown;
  currency: string;
  unit_amount: number | null;
  recurring: { interval: string; interval_count: number } | null;
};

async function retrievePrice(ask: Ask, id: string): Promise<ProviderPrice | null> {
  if (!id.startsWith('price_')) return null;
  try {
    return await ask((provider) => provider.prices.retrieve(id));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const intervals: Price['interval'][] = ['day', 'week', 'month', 'year'];

/** Null for a price that is archived or paid once: it cannot start a subscription. */
function readPrice(price: ProviderPrice | null): TierPrice | null {
  if (price === null || !price.active || textOf(price.id) === null || !price.recurring) return null;

  const { unit_amount: amount, currency, recurring } = price;
  const interval = intervals.find((each) => each === recurring.interval);
  const shown =
    typeof amount === 'number' && recurring.interval_count === 1 && interval !== undefined
      ? { amount, currency, interval }
      : null;
  return { id: price.id, productId: idOf(price.product), shown };
}

async function storePrices(app: App, prices: TierPrices): Promise<void> {
  const lookedUpAt = app.now();
  const known = Object.entries(prices).flatMap(([tier, price]) =>
    price === null ? [] : [{ priceId: price.id, productId: price.productId, tier }],
  );
  const live = paidTiers(app.plans).map((tier) => ({
    tier,
    amount: prices[tier]?.shown?.amount ?? null,
    currency: prices[tier]?.shown?.currency ?? null,
    interval: prices[tier]?.shown?.interval ?? null,
    lookedUpAt,
  }));

  await app.db.transaction(async (tx) => {
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
          amount: sql`excluded.amount`,
          currency: sql`excluded.currency`,
          interval: sql`excluded.interval`,
          lookedUpAt: sql`excluded.looked_up_at`,
        },
      });
  });
}

/** The provider refuses a request with more lookup keys. */
const maxKeys = 10;

/** Returns the provider's prices that hold one of the lookup keys. @throws AppError PROVIDER_UNAVAILABLE. */
export async function listByLookupKey(ask: Ask, lookupKeys: string[], { active }: { active: boolean }) {
  const keys = [...new Set(lookupKeys)];
  const pages = Array.from({ length: Math.ceil(keys.length / maxKeys) }, (_, page) =>
    keys.slice(page * maxKeys, (page + 1) * maxKeys),
  );
  const listed = await Promise.all(
    pages.map((lookup_keys) => ask((provider) => provider.prices.list({ lookup_keys, active, limit: 100 }))),
  );
  return listed.flatMap(({ data }) => data);
}
