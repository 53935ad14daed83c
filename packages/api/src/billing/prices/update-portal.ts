import type { App } from '../../app.ts';
import { isMissing } from '../../platform/providers/payment.ts';
import { withLease } from '../customers/lease.ts';
import { readPrices } from './look-up-prices.ts';
import { portalOffer, readSavedOffer, saveOffer, setupLease } from './portal-offer.ts';

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
    const { configuration, isCurrent } = await readSavedOffer(app.db, offer);
    if (configuration === null || isCurrent || offer.products.length === 0) return;

    try {
      await ask((provider) =>
        provider.billingPortal.configurations.update(configuration, { features: { subscription_update: offer } }),
      );
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
