import { inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { paymentSettings } from '../../platform/db/schema/billing.ts';
import { portalSetting } from '../actions/open-portal.ts';
import type { TierPrices } from './price-cache.ts';

/** The lease that every writer of the portal's configuration holds. */
export const setupLease = 'setup';

/**
 * The part of the portal's configuration about a change of plan: our prices, and that the
 * difference is invoiced at once. With `create_prorations` the higher plan would be given
 * away until the renewal.
 */
export function portalOffer(prices: TierPrices) {
  return { proration_behavior: 'always_invoice' as const, products: productsOf(prices) };
}

type PortalOffer = ReturnType<typeof portalOffer>;

/** Groups the prices by product: the portal lists each product once. */
function productsOf(prices: TierPrices): { product: string; prices: string[] }[] {
  const byProduct = new Map<string, string[]>();
  for (const price of Object.values(prices)) {
    if (price?.productId == null) continue;
    byProduct.set(price.productId, [...(byProduct.get(price.productId) ?? []), price.id]);
  }
  return [...byProduct].map(([product, ids]) => ({ product, prices: ids }));
}

const offerSetting = `${portalSetting}_offer`;

type SavedOffer = {
  /** The id of our configuration at the provider; null if `billing-setup` never ran. */
  configuration: string | null;
  /** Whether the offer equals the one that was last written there. */
  isCurrent: boolean;
};

/**
 * Compares an offer with the one that this deployment last wrote to the portal's configuration.
 */
export async function readSavedOffer(db: Transaction | App['db'], offer: PortalOffer): Promise<SavedOffer> {
  const rows = await db
    .select()
    .from(paymentSettings)
    .where(inArray(paymentSettings.name, [portalSetting, offerSetting]));
  const saved = (name: string) => rows.find((row) => row.name === name)?.value ?? null;
  return { configuration: saved(portalSetting), isCurrent: saved(offerSetting) === JSON.stringify(offer) };
}

/**
 * Records that the provider's configuration now has this offer.
 */
export async function saveOffer(app: App, offer: PortalOffer): Promise<void> {
  const value = JSON.stringify(offer);
  await app.db
    .insert(paymentSettings)
    .values({ name: offerSetting, value })
    .onConflictDoUpdate({ target: paymentSettings.name, set: { value } });
}

/**
 * Enqueues an update of the portal's configuration if it offers other prices than these. Does
 * nothing without any price to offer or without a configuration to update.
 */
export async function requestPortalUpdate(app: App, tx: Transaction, prices: TierPrices): Promise<void> {
  const offer = portalOffer(prices);
  if (offer.products.length === 0) return;

  const { configuration, isCurrent } = await readSavedOffer(tx, offer);
  if (configuration === null || isCurrent) return;
  await app.jobs.send(tx, 'payment-portal', {}, { key: 'portal' });
}
