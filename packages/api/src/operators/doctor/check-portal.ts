import type { App } from '../../app.ts';
import { portalConfiguration } from '../../billing/prices/portal-configuration.ts';
import type { TierPrices } from '../../billing/prices/read-prices.ts';
import { pingDatabase } from '../../platform/db/health.ts';
import { isMissing, type Payment } from '../../platform/providers/payment.ts';
import { type Finding, note, right, wrong } from './finding.ts';

const about = 'Portal';
const remedy = 'Run the admin command billing-setup.';

/**
 * Checks whether the portal's configuration lets administrators change cards, see past
 * invoices, cancel at the end of the period and choose our prices, and charges upgrades at once.
 *
 * @throws AppError PROVIDER_UNAVAILABLE for any other reason than a missing configuration.
 */
export async function checkPortal(app: App, { ask }: Payment, prices: TierPrices): Promise<Finding> {
  const configuration = await readConfiguration(app).catch(() => undefined);
  if (configuration === undefined) {
    return note(about, 'It could not be checked, because the database cannot be read.');
  }
  if (configuration === null) return wrong(about, `It was never configured from here. ${remedy}`);

  try {
    const found = await ask((provider) => provider.billingPortal.configurations.retrieve(configuration));
    const { features } = found;
    const offered = new Set((features.subscription_update.products ?? []).flatMap((product) => product.prices));
    const problems = [
      found.active ? null : 'it is switched off',
      features.payment_method_update.enabled ? null : 'cards cannot be changed',
      features.invoice_history.enabled ? null : 'past invoices cannot be seen',
      features.subscription_cancel.enabled && features.subscription_cancel.mode === 'at_period_end'
        ? null
        : 'plans cannot be cancelled at the end of the period',
      features.subscription_update.enabled ? null : 'plans cannot be changed',
      features.subscription_update.proration_behavior === 'always_invoice'
        ? null
        : 'an upgrade is not charged when it happens',
      Object.values(prices).every((price) => price === null || offered.has(price.id)) ? null : 'it offers other prices',
    ].filter((problem) => problem !== null);
    if (problems.length > 0) return wrong(about, `${configuration}: ${problems.join(', ')}. ${remedy}`);
    return right(about, `Configuration ${configuration} is as it should be.`);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return wrong(about, `The provider does not know the configuration ${configuration}. ${remedy}`);
  }
}

async function readConfiguration(app: App): Promise<string | null> {
  await pingDatabase(app.sql);
  return portalConfiguration(app);
}
