import type Stripe from 'stripe';
import { announce, change } from '../events/announce.ts';
import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Price } from '../provider/records.ts';
import { missing, missingParameter, ParameterError, refused } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { currencyOptionRules, setCurrencyOptions } from './price-currencies.ts';
import { addProduct, findProduct } from './products.ts';

const maxLookupKeys = 10;

export const priceRoutes = [
  route<Stripe.PriceCreateParams>(
    'POST',
    '/v1/prices',
    {
      currency: 'string',
      active: 'boolean',
      billing_scheme: { one: ['per_unit'] },
      currency_options: currencyOptionRules,
      custom_unit_amount: 'unsupported',
      lookup_key: 'string',
      metadata: 'metadata',
      nickname: 'text',
      product: 'string',
      product_data: {
        hash: {
          name: 'string',
          active: 'boolean',
          id: 'string',
          metadata: 'metadata',
          statement_descriptor: 'string',
          tax_code: 'unsupported',
          unit_label: 'string',
        },
        required: ['name'],
      },
      recurring: {
        hash: {
          interval: { one: ['day', 'week', 'month', 'year'] },
          interval_count: 'integer',
          meter: 'unsupported',
          trial_period_days: 'unsupported',
          usage_type: { one: ['licensed'] },
        },
        required: ['interval'],
      },
      tax_behavior: { one: ['exclusive', 'inclusive', 'unspecified'] },
      tiers: 'unsupported',
      tiers_mode: 'unsupported',
      transfer_lookup_key: 'boolean',
      transform_quantity: 'unsupported',
      unit_amount: 'integer',
      unit_amount_decimal: 'string',
    },
    create,
    ['currency'],
  ),
  route<Stripe.PriceRetrieveParams>('GET', '/v1/prices/:id', {}, ({ provider, id }) => findPrice(provider, id, 'id')),
  route<Stripe.PriceUpdateParams>(
    'POST',
    '/v1/prices/:id',
    {
      active: 'boolean',
      currency_options: currencyOptionRules,
      lookup_key: 'text',
      metadata: 'metadata',
      nickname: 'text',
      tax_behavior: { one: ['exclusive', 'inclusive', 'unspecified'] },
      transfer_lookup_key: 'boolean',
    },
    update,
  ),
  route<Stripe.PriceListParams>(
    'GET',
    '/v1/prices',
    {
      ...pageRules,
      active: 'boolean',
      created: rangeRule,
      currency: 'string',
      lookup_keys: { list: 'string' },
      product: 'string',
      recurring: { hash: { interval: 'string', meter: 'unsupported', usage_type: 'string' } },
      type: { one: ['one_time', 'recurring'] },
    },
    list,
  ),
];

/** @throws ApiError resource_missing if there is no such price. */
export function findPrice(provider: Provider, id: string, param: string): Price {
  const price = provider.state.prices[id];
  if (!price) throw missing('price', id, param);
  return price;
}

function create({ provider, params }: Call<Stripe.PriceCreateParams>): Price {
  if (params.product && params.product_data)
    throw refused('You may only specify one of these parameters: product, product_data.');
  if (!params.product && !params.product_data) throw missingParameter('product');
  if (params.unit_amount === undefined && params.unit_amount_decimal === undefined) {
    throw missingParameter('unit_amount');
  }
  if (params.product) findProduct(provider, params.product, 'product');
  const key = claimLookupKey(provider, params.lookup_key, params.transfer_lookup_key ?? false);
  const product =
    params.product ??
    addProduct(
      provider,
      params.product_data?.id ?? newId('prod', 14),
      params.product_data as Stripe.ProductCreateParams,
    ).id;
  return addPrice(provider, newId('price'), product, { ...params, ...(key && { lookup_key: key }) });
}

/** Stores a new price and announces it. */
export function addPrice(provider: Provider, id: string, product: string, params: Stripe.PriceCreateParams): Price {
  const decimal =
    params.unit_amount_decimal === undefined ? String(params.unit_amount ?? 0) : String(params.unit_amount_decimal);
  const amount = Number(decimal);
  const price: Price = {
    id,
    object: 'price',
    active: params.active ?? true,
    billing_scheme: 'per_unit',
    created: now(provider),
    currency: params.currency.toLowerCase(),
    custom_unit_amount: null,
    livemode: false,
    lookup_key: params.lookup_key ?? null,
    metadata: mergeMetadata({}, params.metadata),
    nickname: params.nickname || null,
    product,
    recurring: params.recurring
      ? {
          interval: params.recurring.interval,
          interval_count: params.recurring.interval_count ?? 1,
          meter: null,
          trial_period_days: null,
          usage_type: 'licensed',
        }
      : null,
    tax_behavior: params.tax_behavior ?? 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: params.recurring ? 'recurring' : 'one_time',
    // An amount with a fraction of a penny exists as a decimal only.
    unit_amount: Number.isInteger(amount) ? amount : null,
    unit_amount_decimal: decimal,
  };
  setCurrencyOptions(provider, price, params.currency_options);
  provider.state.prices[id] = price;
  announce(provider, 'price.created', price);
  return price;
}

function update({ provider, id, params }: Call<Stripe.PriceUpdateParams>): Price {
  const price = findPrice(provider, id, 'id');
  if (params.currency_options) setCurrencyOptions(provider, price, params.currency_options);
  if (
    params.tax_behavior !== undefined &&
    price.tax_behavior !== 'unspecified' &&
    params.tax_behavior !== price.tax_behavior
  )
    throw refused('The tax_behavior of a price cannot be changed once it is exclusive or inclusive.', {
      param: 'tax_behavior',
    });
  const key = params.lookup_key
    ? claimLookupKey(provider, params.lookup_key, params.transfer_lookup_key ?? false, id)
    : params.lookup_key;
  return changePrice(provider, price, () => {
    if (params.active !== undefined) price.active = params.active;
    if (params.nickname !== undefined) price.nickname = params.nickname || null;
    if (params.tax_behavior !== undefined) price.tax_behavior = params.tax_behavior;
    if (params.metadata !== undefined) price.metadata = mergeMetadata(price.metadata, params.metadata);
    if (key !== undefined) price.lookup_key = key || null;
  });
}

/** Changes a price. Its subscriptions show it as it is now, and no event tells that they do. */
function changePrice(provider: Provider, price: Price, act: () => void): Price {
  const changed = change(provider, 'price.updated', price, act);
  for (const { items } of Object.values(provider.state.subscriptions)) {
    for (const item of items.data) if (item.price.id === price.id) item.price = structuredClone(price);
  }
  return changed;
}

/**
 * Returns the lookup key for a price. A key belongs to one price; `transfer_lookup_key` takes it from another.
 *
 * @throws ApiError resource_already_exists if another price has it and it is not to be transferred.
 */
function claimLookupKey(
  provider: Provider,
  key: string | undefined,
  transfer: boolean,
  owner?: string,
): string | undefined {
  if (!key) return key;
  const holder = Object.values(provider.state.prices).find((price) => price.lookup_key === key && price.id !== owner);
  if (!holder) return key;
  if (!transfer) {
    throw refused(`A price (\`${holder.id}\`) already uses that lookup key.`, {
      code: 'resource_already_exists',
      param: 'lookup_key',
    });
  }
  changePrice(provider, holder, () => {
    holder.lookup_key = null;
  });
  return key;
}

function list({ provider, params, path }: Call<Stripe.PriceListParams>) {
  if ((params.lookup_keys?.length ?? 0) > maxLookupKeys) {
    throw new ParameterError(400, `Invalid array: lookup_keys may hold at most ${maxLookupKeys} keys.`, {
      param: 'lookup_keys',
    });
  }
  const all = Object.values(provider.state.prices).filter(
    (price) =>
      createdIn(price, params.created) &&
      (params.active === undefined || price.active === params.active) &&
      (params.currency === undefined || price.currency === params.currency) &&
      (params.product === undefined || price.product === params.product) &&
      (params.type === undefined || price.type === params.type) &&
      (params.recurring?.interval === undefined || price.recurring?.interval === params.recurring.interval) &&
      (params.recurring?.usage_type === undefined || price.recurring?.usage_type === params.recurring.usage_type) &&
      (params.lookup_keys === undefined || params.lookup_keys.includes(price.lookup_key ?? '')),
  );
  return listPage(path, all, params, 'price');
}
