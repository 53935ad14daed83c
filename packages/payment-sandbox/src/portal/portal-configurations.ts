import type Stripe from 'stripe';
import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { PortalConfiguration } from '../provider/records.ts';
import { missing, refused } from '../routing/api-error.ts';
import { listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { checkFeatures, configurationRules, mergeFeatures, noFeatures } from './portal-features.ts';

type CreateParams = Stripe.BillingPortal.ConfigurationCreateParams;
type UpdateParams = Stripe.BillingPortal.ConfigurationUpdateParams;

export const portalConfigurationRoutes = [
  route<CreateParams>(
    'POST',
    '/v1/billing_portal/configurations',
    configurationRules,
    ({ provider, params }) => addConfiguration(provider, newId('bpc'), params, false),
    ['features'],
  ),
  route<Stripe.BillingPortal.ConfigurationRetrieveParams>(
    'GET',
    '/v1/billing_portal/configurations/:id',
    {},
    ({ provider, id }) => findConfiguration(provider, id, 'id'),
  ),
  route<UpdateParams>(
    'POST',
    '/v1/billing_portal/configurations/:id',
    { ...configurationRules, active: 'boolean' },
    update,
  ),
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

/** @throws ApiError resource_missing if there is no such configuration. */
export function findConfiguration(provider: Provider, id: string, param: string): PortalConfiguration {
  const configuration = provider.state.portal_configurations[id];
  if (!configuration) throw missing('configuration', id, param);
  return configuration;
}

/** Stores a portal configuration. @throws ApiError as `checkFeatures`. */
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
