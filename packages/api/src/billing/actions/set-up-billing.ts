import type { App } from '../../app.ts';
import type { Config } from '../../platform/config.ts';
import { paymentKnownPrices, paymentSettings } from '../../platform/db/schema/billing.ts';
import { baseUrl, billingPage } from '../../platform/links.ts';
import { listAll } from '../../platform/providers/list-all.ts';
import type { Ask } from '../../platform/providers/payment.ts';
import { withLease } from '../customers/lease.ts';
import { claimMode } from '../mode.ts';
import { type PaidTier, paidTiers, planOf, priceVariable } from '../plans/plans.ts';
import { portalOffer, portalSetting, saveOffer, setupLease } from '../prices/portal-configuration.ts';
import { listByLookupKey, readPrices, type TierPrices } from '../prices/read-prices.ts';

/**
 * Creates what is missing at the provider: a product and a price for each paid tier, with
 * its lookup key and the declared amount, and the portal's configuration. Existing prices do
 * not change; the portal's configuration is updated. Every object is marked with this
 * deployment; another deployment's objects are neither changed nor used. Returns lines that
 * report what was done.
 *
 * @throws Error that names PAYMENT_SECRET_KEY if the database belongs to the other mode; AppError BILLING_UNAVAILABLE, BUSY or PROVIDER_UNAVAILABLE; INTERNAL without a canonical
 *   base URL; Error if a configured price id does not exist (only lookup keys can be created), or if
 *   a lookup key belongs to another deployment.
 */
export async function setUpBilling(app: App): Promise<string> {
  await claimMode(app);
  return withLease(app, setupLease, async (ask) => {
    const found = await readPrices(app, ask);
    const tiers = paidTiers(app.plans);
    const made = tiers.filter((tier) => found[tier] === null);
    for (const tier of made) await makePrice(app, ask, tier);
    const prices = made.length === 0 ? found : await readPrices(app, ask);

    const portalConfiguration = await configurePortal(app, ask, prices);
    await app.db
      .insert(paymentSettings)
      .values({ name: portalSetting, value: portalConfiguration })
      .onConflictDoUpdate({ target: paymentSettings.name, set: { value: portalConfiguration } });
    await saveOffer(app, portalOffer(prices));
    const foreign = await foreignKeys(app, ask);
    return [
      ...tiers.map((tier) => `${tier}: price ${prices[tier]?.id} ${made.includes(tier) ? 'made' : 'was there'}`),
      ...tiers.flatMap((tier) => foreignPrice(app, foreign, tier) ?? []),
      `portal: configuration ${portalConfiguration} is up to date`,
    ].join('\n');
  });
}

async function makePrice(app: App, ask: Ask, tier: PaidTier): Promise<void> {
  const lookupKey = app.plans.priceNames[tier];
  if (lookupKey?.startsWith('price_')) {
    throw new Error(`${priceVariable(tier)} names the price ${lookupKey}, which the provider does not sell.`);
  }
  const foreign = foreignPrice(app, await foreignKeys(app, ask), tier);
  if (foreign !== null) throw new Error(foreign);
  const { name, price } = planOf(app.plans, tier);
  if (price === null) throw new Error(`The plan ${tier} has no price.`);

  const metadata = { ...deploymentMark(app.config), tier };
  const product =
    (await findProduct(app, ask, tier)) ?? (await ask((provider) => provider.products.create({ name, metadata }))).id;
  await ask((provider) =>
    provider.prices.create({
      product,
      currency: price.currency,
      unit_amount: price.amount,
      recurring: { interval: price.interval },
      lookup_key: lookupKey,
      // An archived price may still hold the key.
      transfer_lookup_key: true,
      metadata,
    }),
  );
}

/** An unmarked product of an earlier version is ours if we know a price of it. */
async function findProduct(app: App, ask: Ask, tier: PaidTier): Promise<string | null> {
  const products = await listAll(ask, (provider, paging) => provider.products.list({ active: true, ...paging }));
  const ofTier = products.filter(({ metadata }) => metadata.tier === tier);
  const ours = ofTier.find(({ metadata }) => isOurs(app.config, metadata));
  if (ours !== undefined) return ours.id;

  const known = await app.db.select({ id: paymentKnownPrices.productId }).from(paymentKnownPrices);
  const unmarked = ofTier.find(
    ({ id, metadata }) => deploymentOf(metadata) === null && known.some((each) => each.id === id),
  );
  if (unmarked === undefined) return null;
  await ask((provider) => provider.products.update(unmarked.id, { metadata: deploymentMark(app.config) }));
  return unmarked.id;
}

/** Maps our lookup keys to the address of the other deployment that created their price, archived ones included. */
async function foreignKeys(app: App, ask: Ask): Promise<Map<string, string>> {
  const names = Object.values(app.plans.priceNames);
  const found = await Promise.all([true, false].map((active) => listByLookupKey(ask, names, { active })));
  return new Map(
    found.flat().flatMap(({ lookup_key, metadata }) => {
      const deployment = deploymentOf(metadata);
      return lookup_key === null || deployment === null || isOurs(app.config, metadata)
        ? []
        : [[lookup_key, deployment] as const];
    }),
  );
}

function foreignPrice(app: App, foreign: Map<string, string>, tier: PaidTier): string | null {
  const key = app.plans.priceNames[tier] ?? '';
  const deployment = foreign.get(key);
  if (deployment === undefined) return null;
  return `${tier}: the price ${key} was made by ${deployment}. Set ${priceVariable(tier)} to another key for a price of your own.`;
}

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
    metadata: deploymentMark(app.config),
  };

  const known = await listAll(ask, (provider, paging) =>
    provider.billingPortal.configurations.list({ active: true, ...paging }),
  );
  // A configuration of an earlier version has no mark; its return address identifies it.
  const ours =
    known.find(({ metadata }) => isOurs(app.config, metadata)) ??
    known.find(
      ({ metadata, default_return_url }) =>
        metadata?.purpose === settings.metadata.purpose &&
        deploymentOf(metadata) === null &&
        default_return_url === settings.default_return_url,
    );
  const saved = await ask(({ billingPortal: { configurations } }) =>
    ours === undefined ? configurations.create(settings) : configurations.update(ours.id, settings),
  );
  return saved.id;
}

type Metadata = Record<string, string> | null | undefined;

/**
 * The metadata that this deployment gives to each object that it creates at the provider. Several
 * deployments may share an account, and none may change the objects of another.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
function deploymentMark(config: Config) {
  return { purpose: 'gatehouse', deployment: baseUrl(config) };
}

/** Returns the base URL of the deployment that created an object at the provider; null for an object without the mark. */
function deploymentOf(metadata: Metadata): string | null {
  return metadata?.deployment ?? null;
}

/**
 * Whether this deployment created the object.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
function isOurs(config: Config, metadata: Metadata): boolean {
  return deploymentOf(metadata) === baseUrl(config);
}
