import type { App } from '../app.ts';
import { paymentSettings } from '../db/schema.ts';
import { billingPage } from '../links.ts';
import { listAll } from '../providers/list-all.ts';
import type { Ask } from '../providers/payment.ts';
import { withLease } from './lease.ts';
import { readPrices, type TierPrices } from './look-up-prices.ts';
import { portalSetting } from './open-portal.ts';
import { type PaidTier, paidTiers, planOf } from './plans.ts';
import { portalOffer, saveOffer, setupLease } from './portal-offer.ts';
import { requirePayment } from './require-payment.ts';

/**
 * Makes what is missing at the provider: a product and a price for each paid tier, under
 * its lookup key and at the declared price, and the configuration of the portal. What is
 * there stays as it is; the portal's configuration is brought up to date. Says what was done.
 *
 * @throws Refusal BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE; Error where a configured
 * price id does not exist, since only lookup keys can be made.
 */
export async function setUpBilling(app: App): Promise<string> {
  const { livemode } = requirePayment(app);

  return withLease(app, setupLease, async (ask) => {
    const found = await readPrices(app, ask);
    const made = paidTiers.filter((tier) => found[tier] === null);
    for (const tier of made) await makePrice(app, ask, tier);
    const prices = made.length === 0 ? found : await readPrices(app, ask);

    const portalConfiguration = await configurePortal(app, ask, prices);
    await app.db
      .insert(paymentSettings)
      .values({ name: portalSetting(livemode), value: portalConfiguration })
      .onConflictDoUpdate({ target: paymentSettings.name, set: { value: portalConfiguration } });
    await saveOffer(app, portalOffer(prices));
    return [
      ...paidTiers.map((tier) => `${tier}: price ${prices[tier]?.id} ${made.includes(tier) ? 'made' : 'was there'}`),
      `portal: configuration ${portalConfiguration} is up to date`,
    ].join('\n');
  });
}

async function makePrice(app: App, ask: Ask, tier: PaidTier): Promise<void> {
  const lookupKey = app.config.prices[tier];
  if (lookupKey.startsWith('price_')) {
    throw new Error(
      `PAYMENT_PRICE_${tier.toUpperCase()} names the price ${lookupKey}, which the provider does not sell.`,
    );
  }
  const { name, price } = planOf(app.plans, tier);
  if (price === null) throw new Error(`The plan ${tier} has no price.`);

  const product =
    (await findProduct(ask, tier)) ??
    (await ask((provider) => provider.products.create({ name, metadata: { tier } }))).id;
  await ask((provider) =>
    provider.prices.create({
      product,
      currency: price.currency,
      unit_amount: price.amount,
      recurring: { interval: price.interval },
      lookup_key: lookupKey,
      // An archived price may still hold the key.
      transfer_lookup_key: true,
      metadata: { tier },
    }),
  );
}

async function findProduct(ask: Ask, tier: PaidTier): Promise<string | null> {
  const products = await listAll(ask, (provider, place) => provider.products.list({ active: true, ...place }));
  return products.find(({ metadata }) => metadata.tier === tier)?.id ?? null;
}

/** Marks our configuration among others of the same account. */
const mark = { purpose: 'gatehouse' };

async function configurePortal(app: App, ask: Ask, prices: TierPrices): Promise<string> {
  const settings = {
    default_return_url: billingPage(app.config),
    features: {
      payment_method_update: { enabled: true },
      invoice_history: { enabled: true },
      subscription_cancel: { enabled: true, mode: 'at_period_end' as const },
      subscription_update: {
        enabled: true,
        default_allowed_updates: ['price' as const],
        ...portalOffer(prices),
      },
    },
    metadata: mark,
  };

  const known = await listAll(ask, (provider, place) =>
    provider.billingPortal.configurations.list({ active: true, ...place }),
  );
  const ours = known.find(({ metadata }) => metadata?.purpose === mark.purpose);
  const saved = await ask(({ billingPortal: { configurations } }) =>
    ours === undefined ? configurations.create(settings) : configurations.update(ours.id, settings),
  );
  return saved.id;
}
