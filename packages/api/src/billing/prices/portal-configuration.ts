import type { App } from '../../app.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { isMissing } from '../../platform/providers/payment/connection.ts';
import { type PortalOffer, updatePortalOffer } from '../../platform/providers/payment/portal.ts';
import { withLease } from '../customers/lease.ts';
import { readSetting, saveSetting } from '../settings.ts';
import { readPrices, type TierPrices } from './read-prices.ts';

/** The lease that every writer of the portal's configuration holds. */
export const setupLease = 'setup';

/**
 * Writes the tiers' current prices to the portal's configuration, if `billing-setup` created one.
 * The prices are looked up under the lease, so the last of several updates writes the newest
 * prices. This look-up enqueues no further update: an update that the provider refuses would
 * otherwise enqueue the next at once. Other settings of the configuration stay unchanged.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE. The queue then retries the job.
 */
export async function updatePortal(app: App): Promise<void> {
  await withLease(app, setupLease, async (ask) => {
    const offer = portalOffer(await readPrices(app, ask));
    const configuration = await outdatedConfiguration(app.db, offer);
    if (configuration === null) return;
    try {
      await updatePortalOffer(ask, configuration, offer);
    } catch (error) {
      if (!isMissing(error)) throw error;
      app.log.warn('The payment provider does not know the portal’s configuration. Run `operator billing-setup`.', {
        configuration,
      });
      return;
    }
    await saveOffer(app, offer);
  });
}

/**
 * Enqueues an update of the portal's configuration if it offers other prices than these. Does
 * nothing without any price to offer or without a configuration to update.
 */
export async function requestPortalUpdate(app: App, tx: Transaction, prices: TierPrices): Promise<void> {
  if ((await outdatedConfiguration(tx, portalOffer(prices))) === null) return;
  await app.jobs.send(tx, 'payment-portal', {}, { key: 'portal' });
}

/** The name of the setting that holds the id of the portal's configuration. */
export const portalSetting = 'portal_configuration';

/** Returns the id of the portal's configuration that this deployment made; null if `billing-setup` never ran. */
export function portalConfiguration(app: App): Promise<string | null> {
  return readSetting(app.db, portalSetting);
}

/** The provider refuses a configuration with more products. A change to a further one opens the portal's first page. */
const maxProducts = 10;

/** Groups the prices by product: the portal lists each product once, with one price an interval. */
export function portalOffer(prices: TierPrices): PortalOffer {
  const byProduct = new Map<string, string[]>();
  for (const { found } of prices) {
    if (found?.productId == null) continue;
    byProduct.set(found.productId, [...(byProduct.get(found.productId) ?? []), found.id]);
  }
  return [...byProduct].slice(0, maxProducts).map(([product, ids]) => ({ product, prices: ids }));
}

const offerSetting = `${portalSetting}_offer`;

/** Returns our configuration's id, if there is an offer that differs from the one last written there; else null. */
async function outdatedConfiguration(db: Executor, offer: PortalOffer): Promise<string | null> {
  const isCurrent = offer.length === 0 || (await readSetting(db, offerSetting)) === JSON.stringify(offer);
  return isCurrent ? null : readSetting(db, portalSetting);
}

/** Records that the provider's configuration now has this offer. */
export function saveOffer(app: App, offer: PortalOffer): Promise<void> {
  return saveSetting(app.db, offerSetting, JSON.stringify(offer));
}
