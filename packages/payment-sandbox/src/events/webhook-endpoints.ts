import Stripe from 'stripe';
import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { WebhookEndpoint } from '../provider/records.ts';
import { missing, ParameterError } from '../routing/api-error.ts';
import { listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules, type Rule } from '../routing/parameters.ts';
import { type Call, type Route, route } from '../routing/route.ts';
import { eventTypes } from './event-types.ts';

const enabledEvents: Rule = { list: { one: ['*', ...eventTypes] } };

const createRoute: Route = {
  ...route<Stripe.WebhookEndpointCreateParams>(
    'POST',
    '/v1/webhook_endpoints',
    {
      enabled_events: enabledEvents,
      url: 'string',
      api_version: 'string',
      connect: 'unsupported',
      description: 'text',
      metadata: 'metadata',
    },
    create,
    ['enabled_events', 'url'],
  ),
  showsSecret: true,
};

export const webhookEndpointRoutes = [
  createRoute,
  route<Stripe.WebhookEndpointRetrieveParams>('GET', '/v1/webhook_endpoints/:id', {}, ({ provider, id }) =>
    findEndpoint(provider, id),
  ),
  route<Stripe.WebhookEndpointUpdateParams>(
    'POST',
    '/v1/webhook_endpoints/:id',
    {
      description: 'text',
      disabled: 'boolean',
      enabled_events: enabledEvents,
      metadata: 'metadata',
      url: 'string',
    },
    update,
  ),
  route<Stripe.WebhookEndpointListParams>(
    'GET',
    '/v1/webhook_endpoints',
    { ...pageRules },
    ({ provider, params, path }) =>
      listPage(path, Object.values(provider.state.webhook_endpoints), params, 'webhook endpoint'),
  ),
  route<Stripe.WebhookEndpointDeleteParams>('DELETE', '/v1/webhook_endpoints/:id', {}, ({ provider, id }) => {
    findEndpoint(provider, id);
    delete provider.state.webhook_endpoints[id];
    return { id, object: 'webhook_endpoint', deleted: true } satisfies Stripe.DeletedWebhookEndpoint;
  }),
];

function findEndpoint(provider: Provider, id: string): WebhookEndpoint {
  const endpoint = provider.state.webhook_endpoints[id];
  if (!endpoint) throw missing('webhook endpoint', id);
  return endpoint;
}

function create({ provider, params }: Call<Stripe.WebhookEndpointCreateParams>): WebhookEndpoint {
  checkSettings(params);
  return addEndpoint(provider, newId('we'), {
    ...params,
    secret: newId('sandbox_webhook_secret'),
  });
}

/** Stores an enabled endpoint. It receives the events that are announced from now on. */
export function addEndpoint(
  provider: Provider,
  id: string,
  settings: { url: string; secret: string; enabled_events: string[] } & Partial<
    Omit<Stripe.WebhookEndpointCreateParams, 'enabled_events'>
  >,
): WebhookEndpoint {
  const endpoint: WebhookEndpoint = {
    id,
    object: 'webhook_endpoint',
    api_version: settings.api_version ?? Stripe.API_VERSION,
    application: null,
    created: now(provider),
    description: settings.description || null,
    enabled_events: settings.enabled_events,
    livemode: false,
    metadata: mergeMetadata({}, settings.metadata),
    secret: settings.secret,
    status: 'enabled',
    url: settings.url,
  };
  provider.state.webhook_endpoints[id] = endpoint;
  return endpoint;
}

/** Returns a copy of the types that an endpoint subscribes to. @throws Error that names one that does not exist. */
export function readEventTypes(types: readonly string[]): string[] {
  const unknown = types.find((type) => type !== '*' && !eventTypes.includes(type));
  if (unknown !== undefined) throw new Error(`There is no event type ${unknown}.`);
  return [...types];
}

function update({ provider, id, params }: Call<Stripe.WebhookEndpointUpdateParams>): WebhookEndpoint {
  const endpoint = findEndpoint(provider, id);
  checkSettings(params);
  if (params.url !== undefined) endpoint.url = params.url;
  if (params.enabled_events) endpoint.enabled_events = params.enabled_events;
  if (params.description !== undefined) endpoint.description = params.description || null;
  if (params.disabled !== undefined) endpoint.status = params.disabled ? 'disabled' : 'enabled';
  if (params.metadata !== undefined) endpoint.metadata = mergeMetadata(endpoint.metadata, params.metadata);
  return endpoint;
}

/** @throws ParameterError if there are no events, or if the URL is neither https nor http on loopback. */
function checkSettings({ url, enabled_events: events }: Stripe.WebhookEndpointUpdateParams): void {
  if (events?.length === 0) {
    throw new ParameterError(400, 'Invalid array: enabled_events must hold at least one event.', {
      param: 'enabled_events',
    });
  }
  if (url === undefined || isReachable(url)) return;
  throw new ParameterError(400, 'Invalid URL: An explicit scheme (such as https) must be provided.', {
    code: 'url_invalid',
    param: 'url',
  });
}

function isReachable(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}
