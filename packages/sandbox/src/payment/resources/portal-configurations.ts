import type Stripe from 'stripe';
import { missing, ParameterError, refused } from '../api/api-error.ts';
import { listPage } from '../api/lists.ts';
import { mergeMetadata, pageRules, type Rule } from '../api/parameters.ts';
import { type Call, route } from '../api/route.ts';
import { now } from '../clock.ts';
import { newId } from '../id.ts';
import type { Provider } from '../provider.ts';
import type { PortalConfiguration } from '../records.ts';

type CreateParams = Stripe.BillingPortal.ConfigurationCreateParams;
type UpdateParams = Stripe.BillingPortal.ConfigurationUpdateParams;
type Features = PortalConfiguration['features'];

const proration: Rule = { one: ['always_invoice', 'create_prorations', 'none'] };
const shared = {
  business_profile: { hash: { headline: 'text', privacy_policy_url: 'text', terms_of_service_url: 'text' } },
  default_return_url: 'text',
  features: {
    hash: {
      customer_update: { hash: { enabled: 'boolean', allowed_updates: { list: 'string' } } },
      invoice_history: { hash: { enabled: 'boolean' }, required: ['enabled'] },
      payment_method_update: { hash: { enabled: 'boolean', payment_method_configuration: 'text' } },
      subscription_cancel: {
        hash: {
          enabled: 'boolean',
          mode: { one: ['at_period_end', 'immediately'] },
          proration_behavior: proration,
          cancellation_reason: {
            hash: { enabled: 'boolean', options: { list: 'string' }, feedback_options: { list: 'string' } },
          },
        },
      },
      subscription_pause: 'unsupported',
      subscription_update: {
        hash: {
          enabled: 'boolean',
          default_allowed_updates: { list: { one: ['price', 'promotion_code', 'quantity'] } },
          products: {
            list: {
              hash: { product: 'string', prices: { list: 'string' }, adjustable_quantity: 'ignored' },
              required: ['product', 'prices'],
            },
          },
          proration_behavior: proration,
          billing_cycle_anchor: { one: ['now', 'unchanged'] },
          schedule_at_period_end: 'unsupported',
          trial_update_behavior: 'ignored',
        },
      },
    },
  },
  login_page: { hash: { enabled: 'boolean' } },
  metadata: 'metadata',
  name: 'text',
} as const satisfies Record<string, Rule>;

export const portalConfigurationRoutes = [
  route<CreateParams>(
    'POST',
    '/v1/billing_portal/configurations',
    shared,
    ({ provider, params }) => addConfiguration(provider, newId('bpc'), params, false),
    ['features'],
  ),
  route<Stripe.BillingPortal.ConfigurationRetrieveParams>(
    'GET',
    '/v1/billing_portal/configurations/:id',
    {},
    ({ provider, id }) => findConfiguration(provider, id, 'id'),
  ),
  route<UpdateParams>('POST', '/v1/billing_portal/configurations/:id', { ...shared, active: 'boolean' }, update),
  route<Stripe.BillingPortal.ConfigurationListParams>(
    'GET',
    '/v1/billing_portal/configurations',
    { ...pageRules, active: 'boolean', is_default: 'boolean' },
    ({ provider, params, path }) =>
      listPage(
        path,
        Object.values(provider.state.portal_configurations).filter(
          (one) =>
            (params.active === undefined || one.active === params.active) &&
            (params.is_default === undefined || one.is_default === params.is_default),
        ),
        params,
        'configuration',
      ),
  ),
];

export function findConfiguration(provider: Provider, id: string, param: string): PortalConfiguration {
  const configuration = provider.state.portal_configurations[id];
  if (!configuration) throw missing('configuration', id, param);
  return configuration;
}

export function addConfiguration(
  provider: Provider,
  id: string,
  params: CreateParams,
  isDefault: boolean,
): PortalConfiguration {
  const features = mergeFeatures(noFeatures(), params.features);
  checkFeatures(provider, features);
  const configuration: PortalConfiguration = {
    id,
    object: 'billing_portal.configuration',
    active: true,
    application: null,
    business_profile: {
      headline: null,
      privacy_policy_url: null,
      terms_of_service_url: null,
      ...params.business_profile,
    },
    created: now(provider),
    default_return_url: params.default_return_url || null,
    features,
    is_default: isDefault,
    livemode: false,
    login_page: { enabled: false, url: null },
    metadata: mergeMetadata({}, params.metadata),
    name: params.name || null,
    updated: now(provider),
  };
  provider.state.portal_configurations[id] = configuration;
  return configuration;
}

function update({ provider, id, params }: Call<UpdateParams>): PortalConfiguration {
  const configuration = findConfiguration(provider, id, 'id');
  const features = mergeFeatures(configuration.features, params.features ?? {});
  checkFeatures(provider, features);
  if (params.active === false && configuration.is_default)
    throw refused('You cannot deactivate your default configuration.', { param: 'active' });
  configuration.features = features;
  if (params.active !== undefined) configuration.active = params.active;
  if (params.default_return_url !== undefined) configuration.default_return_url = params.default_return_url || null;
  if (params.business_profile) Object.assign(configuration.business_profile, params.business_profile);
  if (params.metadata !== undefined) configuration.metadata = mergeMetadata(configuration.metadata, params.metadata);
  if (params.name !== undefined) configuration.name = params.name || null;
  configuration.updated = now(provider);
  return configuration;
}

function noFeatures(): Features {
  return {
    customer_update: { allowed_updates: [], enabled: false },
    invoice_history: { enabled: false },
    payment_method_update: { enabled: false, payment_method_configuration: null },
    subscription_cancel: {
      cancellation_reason: { enabled: false, feedback_options: null, options: [] },
      enabled: false,
      mode: 'at_period_end',
      proration_behavior: 'none',
    },
    subscription_pause: { duration: { interval_options: [], type: 'indefinite' }, enabled: false },
    subscription_update: {
      billing_cycle_anchor: null,
      default_allowed_updates: [],
      enabled: false,
      products: [],
      proration_behavior: 'none',
      schedule_at_period_end: { conditions: [] },
      trial_update_behavior: 'end_trial',
    },
  };
}

/** Each named member replaces its like; what is not named stays. */
function mergeFeatures(current: Features, changes: object): Features {
  const merged: Record<string, object> = structuredClone(current) as never;
  for (const [name, change] of Object.entries(changes)) merged[name] = { ...merged[name], ...change };
  return merged as unknown as Features;
}

function checkFeatures(provider: Provider, { subscription_update: updates }: Features): void {
  if (!updates.enabled) return;
  const base = 'features[subscription_update]';
  for (const name of ['default_allowed_updates', 'products'] as const) {
    if (!updates[name]?.length)
      throw new ParameterError(400, `Missing required param: ${base}[${name}].`, {
        code: 'parameter_missing',
        param: `${base}[${name}]`,
      });
  }
  for (const [index, { product, prices }] of (updates.products ?? []).entries()) {
    for (const id of prices) {
      const price = provider.state.prices[id];
      const param = `${base}[products][${index}][prices]`;
      if (!price) throw missing('price', id, param);
      if (price.product !== product)
        throw refused(`The price \`${id}\` does not belong to the product \`${product}\`.`, { param });
      if (!price.active) throw refused(`The price \`${id}\` is not active.`, { param });
    }
  }
}
