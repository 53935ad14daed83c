import { eq, or } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { paymentKnownPrices, paymentLivePrices } from '../../platform/db/schema/billing.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { offerOfEvent, type PaymentEvent } from '../../platform/providers/payment/event.ts';
import { applied, type EventOutcome, eventOutcomes } from '../events/event-store.ts';
import { forPaidTiers, paidTiers } from '../plans/plans.ts';
import { readSetting } from '../settings.ts';
import { requestPortalUpdate } from './portal-configuration.ts';
import { type LivePrices, noPrices, type PriceCache } from './price-cache.ts';
import { readPrices, type TierPrices, taxSetting } from './read-prices.ts';

const freshMilliseconds = 60_000;
const waitMilliseconds = 300;
/** No look-up begins for this long after a failed one. */
const pauseMilliseconds = 5_000;

/**
 * Reads the tiers' prices at the provider; none where the declared ones apply. Returns at
 * once if prices are known, however old, and after at most 300 ms otherwise: the look-up
 * continues for the next reader. While the provider does not answer, the last known prices apply.
 */
export async function livePrices(app: App): Promise<LivePrices> {
  if (app.payment === null) return noPrices(app.plans);
  const cache = app.priceCache;
  if (cache.readAt === null) await readStored(app, cache);

  if (isFresh(app, cache)) return cache.prices;
  const lookup = lookUp(app, cache);
  if (cache.known) return cache.prices;

  await Promise.race([lookup, new Promise((resolve) => setTimeout(resolve, waitMilliseconds).unref())]);
  return cache.prices;
}

function isFresh(app: App, { lookedUpAt }: PriceCache): boolean {
  return lookedUpAt !== null && app.now().getTime() - lookedUpAt < freshMilliseconds;
}

/** Runs one look-up at a time. A failure is only logged, because readers have the last known prices. */
function lookUp(app: App, cache: PriceCache): Promise<void> {
  const now = app.now().getTime();
  if (cache.failedAt !== null && now - cache.failedAt < pauseMilliseconds) return Promise.resolve();

  cache.lookup ??= lookUpUnlessStored(app, cache)
    .catch((error: unknown) => {
      cache.failedAt = app.now().getTime();
      app.log.warn('The prices could not be read from the payment provider; the last known ones apply.', { error });
    })
    .finally(() => {
      cache.lookup = null;
    });
  return cache.lookup;
}

async function lookUpUnlessStored(app: App, cache: PriceCache): Promise<void> {
  await readStored(app, cache);
  if (!isFresh(app, cache)) await refreshPrices(app);
  cache.failedAt = null;
}

/** Copies the prices that any node stored last into the cache. */
async function readStored(app: App, cache: PriceCache): Promise<void> {
  const rows = await app.db.select().from(paymentLivePrices);
  const tax = await readSetting(app.db, taxSetting);

  cache.prices = forPaidTiers(app.plans, (tier) => rows.find((each) => each.tier === tier)?.prices ?? []);
  cache.unsold = app.plans.sold.flatMap(({ tier, interval }) => {
    const price = rows.find((row) => row.tier === tier)?.prices.find((each) => each.for === interval);
    return price?.sold === false ? [{ tier, interval }] : [];
  });
  cache.tax = (['exclusive', 'inclusive'] as const).find((each) => each === tax) ?? null;
  cache.known = rows.length > 0;
  cache.readAt = app.now().getTime();
  const times = paidTiers(app.plans).map(
    (tier) => rows.find((each) => each.tier === tier)?.lookedUpAt?.getTime() ?? null,
  );
  cache.lookedUpAt = times.includes(null) ? null : Math.min(...times.filter((time) => time !== null));
}

/**
 * Looks the prices up at once, as after an event about a price.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if the provider does not answer.
 */
export async function refreshPrices(app: App): Promise<void> {
  if (app.payment === null) return;
  const cache = app.priceCache;
  await lookUpPrices(app, app.payment.askBriefly);
  await readStored(app, cache);
}

/**
 * Reads the prices and enqueues an update of the portal if it offers other ones.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
export async function lookUpPrices(app: App, ask: Ask): Promise<TierPrices> {
  const prices = await readPrices(app, ask);
  await app.db.transaction((tx) => requestPortalUpdate(app, tx, prices));
  return prices;
}

/**
 * Enqueues a look-up of the prices for after the commit; the last known ones apply until then.
 * An event about any price causes it, because a lookup key may have moved to a new price.
 * The outcome is `not_ours` for a price of no tier.
 */
export async function requestPriceLookUp(app: App, tx: Transaction, event: PaymentEvent): Promise<EventOutcome> {
  await tx.update(paymentLivePrices).set({ lookedUpAt: null });
  await app.jobs.send(tx, 'payment-prices', {}, { key: 'prices' });

  const names = app.plans.sold.map(({ name }) => name);
  const { id, lookupKey, productId } = offerOfEvent(event);
  if (names.includes(lookupKey ?? '') || names.includes(id ?? '')) return applied;

  const [known] = await tx
    .select({ tier: paymentKnownPrices.tier })
    .from(paymentKnownPrices)
    .where(or(eq(paymentKnownPrices.priceId, id ?? ''), eq(paymentKnownPrices.productId, productId ?? '')))
    .limit(1);
  return known === undefined ? eventOutcomes.not_ours : applied;
}
