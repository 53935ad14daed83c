import type Stripe from 'stripe';
import { existingCustomer } from '../customers/customers.ts';
import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { PortalConfiguration, PortalSession } from '../provider/records.ts';
import { refused } from '../routing/api-error.ts';
import { type Call, route } from '../routing/route.ts';
import { findConfiguration } from './portal-configurations.ts';
import { flowRules, readFlow } from './portal-flow.ts';

type Params = Stripe.BillingPortal.SessionCreateParams;

export const portalSessionRoutes = [
  route<Params>(
    'POST',
    '/v1/billing_portal/sessions',
    {
      after_expiration: 'unsupported',
      configuration: 'string',
      customer: 'string',
      customer_account: 'unsupported',
      flow_data: flowRules,
      locale: 'string',
      on_behalf_of: 'unsupported',
      return_url: 'string',
    },
    create,
    ['customer'],
  ),
];

function create({ provider, params }: Call<Params>): PortalSession {
  const customer = existingCustomer(provider, params.customer ?? '', 'customer');
  const configuration = chooseConfiguration(provider, params.configuration);
  if (params.return_url !== undefined && !URL.canParse(params.return_url)) {
    throw refused('Not a valid URL', { code: 'url_invalid', param: 'return_url' });
  }
  const flow = params.flow_data ? readFlow(provider, customer.id, configuration, params.flow_data) : null;
  const id = newId('bps');
  const session: PortalSession = {
    id,
    object: 'billing_portal.session',
    configuration: configuration.id,
    created: now(provider),
    customer: customer.id,
    customer_account: null,
    flow,
    livemode: false,
    locale: (params.locale as PortalSession['locale']) ?? null,
    on_behalf_of: null,
    return_url: params.return_url ?? configuration.default_return_url,
    url: `${provider.url}/pay/portal/${id}`,
  };
  provider.state.portal_sessions[id] = session;
  return session;
}

function chooseConfiguration(provider: Provider, id: string | undefined): PortalConfiguration {
  if (id !== undefined) {
    const configuration = findConfiguration(provider, id, 'configuration');
    if (!configuration.active) throw refused('The configuration is not active.', { param: 'configuration' });
    return configuration;
  }
  const standard = Object.values(provider.state.portal_configurations).find((one) => one.is_default);
  if (standard) return standard;
  throw refused(
    'No configuration provided and your test mode default configuration has not been created. Provide a configuration or create your default by saving your customer portal settings in test mode.',
  );
}
