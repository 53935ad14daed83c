import type { App } from '../../app.ts';
import type { Config } from '../../platform/config.ts';
import { baseUrl, billingPage } from '../../platform/links.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { configurePortal } from '../../platform/providers/payment/portal.ts';
import {
  activeProducts,
  createPrice,
  createProduct,
  offersByLookupKey,
} from '../../platform/providers/payment/prices.ts';
import { withLease } from '../customers/lease.ts';
import { claimMode } from '../mode.ts';
import { type PaidTier, planOf, priceVariable, type SoldPrice } from '../plans/plans.ts';
import { portalOffer, portalSetting, saveOffer, setupLease } from '../prices/portal-configuration.ts';
import { readPrices } from '../prices/read-prices.ts';
import { saveSetting } from '../settings.ts';
import { setUpWebhook } from './set-up-webhook.ts';

/**
 * Creates what is missing at the provider: a product and a price for each paid tier, with
 * its lookup key and the declared amount, and the portal's configuration. Existing prices do
 * not change; the portal's configuration is updated. Every object is marked with this
 * deployment; another deployment's objects are neither changed nor used. Makes the webhook endpoint too. Returns lines
 * that report what was done; the last one is the setting with the endpoint's secret, if one was made.
 *
 * @throws Error that names PAYMENT_SECRET_KEY if the database belongs to the other mode; AppError BILLING_UNAVAILABLE, BUSY or PROVIDER_UNAVAILABLE; INTERNAL without a canonical
 *   base URL; Error if a configured price id does not exist (only lookup keys can be created), or if
 *   a lookup key belongs to another deployment.
 */
export async function setUpBilling(app: App): Promise<string> {
  await claimMode(app);
  return withLease(app, setupLease, async (ask) => {
    const found = await readPrices(app, ask);
    const made = found.filter((price) => price.found === null);
    for (const price of made) await makePrice(app, ask, price);
    const prices = made.length === 0 ? found : await readPrices(app, ask);

    const offer = portalOffer(prices);
    const portalConfiguration = await configurePortal(ask, {
      returnUrl: billingPage(app.config),
      offer,
      metadata: deploymentMark(app.config),
      details: app.config.payment?.tax ?? false,
    });
    await saveSetting(app.db, portalSetting, portalConfiguration);
    await saveOffer(app, offer);
    const foreign = await foreignKeys(app, ask);
    const webhook = await setUpWebhook(app.config, ask, deploymentMark(app.config));
    return [
      ...prices.map((price) => {
        const isMade = made.some(({ name }) => name === price.name);
        return `${labelOf(app, price)}: price ${price.found?.id} ${isMade ? 'made' : 'was there'}`;
      }),
      ...prices.flatMap((price) => foreignPrice(app, foreign, price) ?? []),
      `portal: configuration ${portalConfiguration} is up to date`,
      webhook.line,
      ...(webhook.secret === null ? [] : [`PAYMENT_WEBHOOK_SECRET=${webhook.secret}`]),
    ].join('\n');
  });
}

/** "silver", or "silver a year" for a tier with several prices. */
function labelOf({ plans }: App, { tier, interval }: SoldPrice): string {
  return planOf(plans, tier).hasOnePrice ? tier : `${tier} a ${interval}`;
}

async function makePrice(app: App, ask: Ask, sold: SoldPrice): Promise<void> {
  const { tier, interval, amounts, name: lookupKey } = sold;
  if (lookupKey.startsWith('price_')) {
    throw new Error(`${priceVariable(tier)} names the price ${lookupKey}, which the provider does not sell.`);
  }
  const foreign = foreignPrice(app, await foreignKeys(app, ask), sold);
  if (foreign !== null) throw new Error(foreign);

  const metadata = { ...deploymentMark(app.config), tier };
  const productId =
    (await findProduct(app, ask, tier)) ?? (await createProduct(ask, planOf(app.plans, tier).name, metadata));
  await createPrice(ask, { productId, amounts, interval, lookupKey, metadata });
}

/** Returns the product of a tier that this deployment created; null without one. */
async function findProduct(app: App, ask: Ask, tier: PaidTier): Promise<string | null> {
  const ours = (await activeProducts(ask)).find(
    ({ metadata }) => metadata.tier === tier && isOurs(app.config, metadata.deployment ?? null),
  );
  return ours?.id ?? null;
}

/** Maps our lookup keys to the address of the other deployment that created their price, archived ones included. */
async function foreignKeys(app: App, ask: Ask): Promise<Map<string, string>> {
  const names = app.plans.sold.map(({ name }) => name);
  const found = await Promise.all([true, false].map((active) => offersByLookupKey(ask, names, { active })));
  return new Map(
    found.flat().flatMap(({ lookupKey, deployment }) => {
      const isForeign = deployment !== null && !isOurs(app.config, deployment);
      return lookupKey === null || !isForeign ? [] : [[lookupKey, deployment] as const];
    }),
  );
}

function foreignPrice(app: App, foreign: Map<string, string>, price: SoldPrice): string | null {
  const deployment = foreign.get(price.name);
  if (deployment === undefined) return null;
  const isFirst = app.plans.sold.find(({ tier }) => tier === price.tier)?.name === price.name;
  const remedy = isFirst
    ? `Set ${priceVariable(price.tier)} to another key for a price of your own.`
    : 'Give the tier another name in PLANS_FILE for prices of your own.';
  return `${labelOf(app, price)}: the price ${price.name} was made by ${deployment}. ${remedy}`;
}

/**
 * The metadata that this deployment gives to each object that it creates at the provider. Several
 * deployments may share an account, and none may change the objects of another.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
function deploymentMark(config: Config) {
  return { purpose: 'gatehouse', deployment: baseUrl(config) };
}

/**
 * Whether this deployment created the object.
 *
 * @throws AppError INTERNAL without a canonical base URL.
 */
function isOurs(config: Config, deployment: string | null): boolean {
  return deployment === baseUrl(config);
}
