import { idOf, textOf } from '../untrusted-json.ts';
import { type Ask, isMissing } from './connection.ts';
import { listAll } from './list-all.ts';

/** What is sold at the provider. */
export type Offer = {
  id: string;
  productId: string | null;
  lookupKey: string | null;
  isActive: boolean;
  livemode: boolean;
  /** Its own currency. */
  currency: string;
  /** The currencies in which it can be bought. */
  currencies: string[];
  /** In minor units by currency; without the currencies in which the price has no fixed amount. */
  amounts: Record<string, number>;
  /** Null if it is paid once. */
  recurring: { interval: string; count: number } | null;
  /** The deployment that created it; null for one made elsewhere. */
  deployment: string | null;
  /** Whether tax is added to the amount or is in it; null where nothing says it. */
  tax: PriceTax | null;
};

export type PriceTax = 'exclusive' | 'inclusive';

type ProviderPrice = {
  id: string;
  active: boolean;
  livemode: boolean;
  lookup_key: string | null;
  product: unknown;
  currency: string;
  unit_amount: number | null;
  currency_options?: Record<string, { unit_amount: number | null }>;
  recurring: { interval: string; interval_count: number } | null;
  metadata?: Record<string, string> | null;
  tax_behavior?: string | null;
};

function offerOf(price: ProviderPrice): Offer {
  const { recurring, currency } = price;
  const options = { ...price.currency_options, [currency]: { unit_amount: price.unit_amount } };
  const fixed = Object.entries(options).flatMap(([name, { unit_amount: amount }]) =>
    typeof amount === 'number' ? [[name, amount] as const] : [],
  );
  return {
    id: price.id,
    productId: idOf(price.product),
    lookupKey: price.lookup_key,
    isActive: price.active && textOf(price.id) !== null,
    livemode: price.livemode,
    currency,
    currencies: Object.keys(options),
    amounts: Object.fromEntries(fixed),
    recurring: recurring ? { interval: recurring.interval, count: recurring.interval_count } : null,
    deployment: price.metadata?.deployment ?? null,
    tax: (['exclusive', 'inclusive'] as const).find((each) => each === price.tax_behavior) ?? null,
  };
}

/** The provider refuses a request with more lookup keys. */
const maxKeys = 10;

/** Returns the offers that hold one of the lookup keys. @throws AppError PROVIDER_UNAVAILABLE. */
export async function offersByLookupKey(
  ask: Ask,
  lookupKeys: string[],
  { active }: { active: boolean },
): Promise<Offer[]> {
  const keys = [...new Set(lookupKeys)];
  const pages = Array.from({ length: Math.ceil(keys.length / maxKeys) }, (_, page) =>
    keys.slice(page * maxKeys, (page + 1) * maxKeys),
  );
  const listed = await Promise.all(
    pages.map((lookup_keys) =>
      ask((provider) => provider.prices.list({ lookup_keys, active, limit: 100, expand: ['data.currency_options'] })),
    ),
  );
  return listed.flatMap(({ data }) => data.map(offerOf));
}

/** Returns an offer; null if the provider does not know it. @throws AppError PROVIDER_UNAVAILABLE. */
export async function readOffer(ask: Ask, id: string): Promise<Offer | null> {
  try {
    return offerOf(await ask((provider) => provider.prices.retrieve(id, { expand: ['currency_options'] })));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

type Metadata = Record<string, string>;

/** The provider's tax code for software as a service that companies use. */
const softwareAsService = 'txcd_10103001';

/** Creates a product and returns its id. @throws AppError PROVIDER_UNAVAILABLE. */
export async function createProduct(ask: Ask, name: string, metadata: Metadata): Promise<string> {
  return (await ask((provider) => provider.products.create({ name, metadata, tax_code: softwareAsService }))).id;
}

/** Returns all products that are not archived. @throws AppError PROVIDER_UNAVAILABLE. */
export async function activeProducts(ask: Ask): Promise<{ id: string; metadata: Metadata }[]> {
  const products = await listAll(ask, (provider, paging) => provider.products.list({ active: true, ...paging }));
  return products.map(({ id, metadata }) => ({ id, metadata }));
}

type NewPrice = {
  productId: string;
  /** In minor units by currency; the first is the price's own. At least one. */
  amounts: Record<string, number>;
  interval: 'day' | 'week' | 'month' | 'year';
  lookupKey: string | undefined;
  metadata: Metadata;
};

/** Creates a recurring price, which takes its lookup key over. @throws AppError PROVIDER_UNAVAILABLE. */
export async function createPrice(ask: Ask, price: NewPrice): Promise<void> {
  const { productId, amounts, interval, lookupKey, metadata } = price;
  const [own, ...others] = Object.entries(amounts);
  if (own === undefined) throw new Error(`The price ${lookupKey} has no amount.`);
  const [currency, amount] = own;
  const currency_options = Object.fromEntries(
    others.map(([name, unit_amount]) => [name, { unit_amount, tax_behavior: 'exclusive' as const }]),
  );
  await ask((provider) =>
    provider.prices.create({
      product: productId,
      currency,
      unit_amount: amount,
      ...(others.length > 0 && { currency_options }),
      recurring: { interval },
      lookup_key: lookupKey,
      // An archived price may still hold the key.
      transfer_lookup_key: true,
      // It can never be changed, so each price has it from the start, also where no tax is computed yet.
      tax_behavior: 'exclusive',
      metadata,
    }),
  );
}
