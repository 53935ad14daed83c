import type Stripe from 'stripe';
import { announce, change } from '../events/announce.ts';
import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Product } from '../provider/records.ts';
import { missing, refused } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules, type Rule, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';

const shared = {
  name: 'string',
  active: 'boolean',
  description: 'text',
  images: { list: 'string' },
  marketing_features: { list: { hash: { name: 'string' } } },
  metadata: 'metadata',
  package_dimensions: 'unsupported',
  shippable: 'boolean',
  statement_descriptor: 'string',
  tax_code: 'text',
  tax_details: 'unsupported',
  unit_label: 'text',
  url: 'text',
} as const satisfies Record<string, Rule>;

export const productRoutes = [
  route<Stripe.ProductCreateParams>(
    'POST',
    '/v1/products',
    { ...shared, default_price_data: 'unsupported', id: 'string', type: 'unsupported' },
    create,
    ['name'],
  ),
  route<Stripe.ProductRetrieveParams>('GET', '/v1/products/:id', {}, ({ provider, id }) => findProduct(provider, id)),
  route<Stripe.ProductUpdateParams>('POST', '/v1/products/:id', { ...shared, default_price: 'text' }, update),
  route<Stripe.ProductListParams>(
    'GET',
    '/v1/products',
    {
      ...pageRules,
      active: 'boolean',
      created: rangeRule,
      ids: { list: 'string' },
      shippable: 'boolean',
      type: 'unsupported',
      url: 'string',
    },
    list,
  ),
  route<Stripe.ProductDeleteParams>('DELETE', '/v1/products/:id', {}, remove),
];

/** @throws ApiError resource_missing if there is no such product. */
export function findProduct(provider: Provider, id: string, param = 'id'): Product {
  const product = provider.state.products[id];
  if (!product) throw missing('product', id, param);
  return product;
}

function create({ provider, params }: Call<Stripe.ProductCreateParams>): Product {
  const id = params.id ?? newId('prod', 14);
  if (provider.state.products[id])
    throw refused('Product already exists.', { code: 'resource_already_exists', param: 'id' });
  return addProduct(provider, id, params);
}

/** Stores a new product and announces it. */
export function addProduct(provider: Provider, id: string, params: Stripe.ProductCreateParams): Product {
  const at = now(provider);
  const product: Product = {
    id,
    object: 'product',
    active: params.active ?? true,
    created: at,
    default_price: null,
    description: params.description || null,
    images: params.images ?? [],
    livemode: false,
    marketing_features: params.marketing_features ?? [],
    metadata: mergeMetadata({}, params.metadata),
    name: params.name,
    package_dimensions: null,
    shippable: params.shippable ?? null,
    statement_descriptor: params.statement_descriptor ?? null,
    tax_code: params.tax_code || null,
    tax_details: null,
    type: 'service',
    unit_label: params.unit_label || null,
    updated: at,
    url: params.url ?? null,
  };
  provider.state.products[id] = product;
  announce(provider, 'product.created', product);
  return product;
}

function update({ provider, id, params }: Call<Stripe.ProductUpdateParams>): Product {
  const product = findProduct(provider, id);
  if (params.default_price && provider.state.prices[params.default_price]?.product !== id) {
    throw missing('price', params.default_price, 'default_price');
  }
  return change(provider, 'product.updated', product, () => {
    if (params.name !== undefined) product.name = params.name;
    if (params.active !== undefined) product.active = params.active;
    if (params.description !== undefined) product.description = params.description || null;
    if (params.images) product.images = params.images;
    if (params.marketing_features) product.marketing_features = params.marketing_features;
    if (params.default_price !== undefined) product.default_price = params.default_price || null;
    if (params.shippable !== undefined) product.shippable = params.shippable;
    if (params.statement_descriptor !== undefined) product.statement_descriptor = params.statement_descriptor;
    if (params.unit_label !== undefined) product.unit_label = params.unit_label || null;
    if (params.tax_code !== undefined) product.tax_code = params.tax_code || null;
    if (params.url !== undefined) product.url = params.url || null;
    if (params.metadata !== undefined) product.metadata = mergeMetadata(product.metadata, params.metadata);
    product.updated = now(provider);
  });
}

function list({ provider, params, path }: Call<Stripe.ProductListParams>) {
  const all = Object.values(provider.state.products).filter(
    (product) =>
      createdIn(product, params.created) &&
      (params.active === undefined || product.active === params.active) &&
      (params.shippable === undefined || product.shippable === params.shippable) &&
      (params.ids === undefined || params.ids.includes(product.id)) &&
      (params.url === undefined || product.url === params.url),
  );
  return listPage(path, all, params, 'product');
}

function remove({ provider, id }: Call<Stripe.ProductDeleteParams>): Stripe.DeletedProduct {
  const product = findProduct(provider, id);
  if (Object.values(provider.state.prices).some((price) => price.product === id)) {
    throw refused('This product cannot be deleted because it has one or more user-created prices.');
  }
  delete provider.state.products[id];
  announce(provider, 'product.deleted', product);
  return { id, object: 'product', deleted: true };
}
