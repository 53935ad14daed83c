import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentLivePrices, paymentSettings } from '../../db/schema/billing.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { forPaidTiers, type PaidTier, type Price, paidTiers } from '../plans/plans.ts';
import { lookUpPrices, modeName, pricesModeSetting } from './look-up-prices.ts';
import { type LivePrices, noPrices, type PriceCache } from './price-cache.ts';

const goodMilliseconds = 60_000;
const waitMilliseconds = 300;
/** After a failure the provider is left alone for a moment. */
const pauseMilliseconds = 5_000;

/**
 * What the tiers cost at the provider; null where the declared price stands. Never waits
 * where a price is known, and 300 ms at most where none is: the look-up goes on and the
 * next reader has it. While the provider is silent the last known price stands.
 */
export async function livePrices(app: App): Promise<LivePrices> {
  if (app.payment === null) return noPrices(app.plans);
  const cache = app.priceCache;
  if (cache.readAt === null) await readStored(app, cache);

  if (isGood(app, cache)) return cache.prices;
  const lookup = lookUp(app, cache);
  if (cache.known) return cache.prices;

  await Promise.race([lookup, new Promise((resolve) => setTimeout(resolve, waitMilliseconds).unref())]);
  return cache.prices;
}

/** Looks the prices up again at once, as after the provider told of a change. @throws where it is silent. */
export async function refreshPrices(app: App): Promise<void> {
  if (app.payment === null) return;
  const cache = app.priceCache;
  await lookUpPrices(app, app.payment.askBriefly);
  await readStored(app, cache);
}

function isGood(app: App, { lookedUpAt }: PriceCache): boolean {
  return lookedUpAt !== null && app.now().getTime() - lookedUpAt < goodMilliseconds;
}

/** One look-up at a time; it fails silently, since nobody has to wait for it. */
function lookUp(app: App, cache: PriceCache): Promise<void> {
  const now = app.now().getTime();
  if (cache.failedAt !== null && now - cache.failedAt < pauseMilliseconds) return Promise.resolve();

  cache.lookup ??= lookUpUnlessStored(app, cache)
    .catch((error: unknown) => {
      cache.failedAt = app.now().getTime();
      app.log.warn('The payment provider did not tell its prices; the last known ones stand.', { error });
    })
    .finally(() => {
      cache.lookup = null;
    });
  return cache.lookup;
}

async function lookUpUnlessStored(app: App, cache: PriceCache): Promise<void> {
  await readStored(app, cache);
  if (!isGood(app, cache)) await refreshPrices(app);
  cache.failedAt = null;
}

/** None where they are of the other mode than our key: what is sold there is not sold here. */
async function storedPrices(app: App) {
  const named = eq(paymentSettings.name, pricesModeSetting);
  const rows = await app.db
    .select({ price: paymentLivePrices, mode: paymentSettings.value })
    .from(paymentLivePrices)
    .leftJoin(paymentSettings, named);
  const ours = modeName(requirePayment(app));
  return rows.filter(({ mode }) => mode === null || mode === ours).map(({ price }) => price);
}

/** Takes over what this or another node stored last. */
async function readStored(app: App, cache: PriceCache): Promise<void> {
  const rows = await storedPrices(app);

  function stored(tier: PaidTier): Price | null {
    const row = rows.find((each) => each.tier === tier);
    if (row === undefined || row.amount === null || row.currency === null || row.interval === null) return null;
    return { amount: row.amount, currency: row.currency, interval: row.interval as Price['interval'] };
  }
  cache.prices = forPaidTiers(app.plans, stored);
  cache.known = rows.length > 0;
  cache.readAt = app.now().getTime();
  const times = paidTiers(app.plans).map(
    (tier) => rows.find((each) => each.tier === tier)?.lookedUpAt?.getTime() ?? null,
  );
  cache.lookedUpAt = times.includes(null) ? null : Math.min(...times.filter((time) => time !== null));
}
