import type Stripe from 'stripe';
import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { WebhookEndpoint } from '../provider/records.ts';
import { route } from '../routing/route.ts';

type EventDestination = Stripe.V2.Core.EventDestination;

export const eventDestinationRoutes = [
  route<Stripe.V2.Core.EventDestinationListParams>(
    'GET',
    '/v2/core/event_destinations',
    { include: { list: { one: ['webhook_endpoint.url'] } }, limit: 'unsupported' },
    ({ provider, params }): Stripe.V2List<EventDestination> => {
      const all = [...snapshotDestinations(provider), ...Object.values(provider.state.thin_destinations)];
      const showsUrl = params.include?.includes('webhook_endpoint.url');
      const data = all.map((each) => ({ ...each, webhook_endpoint: showsUrl ? each.webhook_endpoint : {} }));
      return { data, next_page_url: null, previous_page_url: null };
    },
  ),
];

/** The real provider lists its webhook endpoints as destinations too. */
function snapshotDestinations({ state }: Provider): EventDestination[] {
  return Object.values(state.webhook_endpoints).map((endpoint: WebhookEndpoint) => ({
    ...destinationOf(endpoint.id, { name: endpoint.description ?? endpoint.id, url: endpoint.url }, endpoint.created),
    enabled_events: endpoint.enabled_events,
    event_payload: 'snapshot',
    status: endpoint.status === 'enabled' ? 'enabled' : 'disabled',
  }));
}

/** Adds a destination that gets thin events, as the company does in the dashboard. The sandbox sends it none. */
export function addThinDestination(provider: Provider, settings: { name: string; url: string }): EventDestination {
  const destination = destinationOf(newId('ed'), settings, now(provider));
  provider.state.thin_destinations[destination.id] = destination;
  return destination;
}

function destinationOf(id: string, { name, url }: { name: string; url: string }, at: number): EventDestination {
  const time = new Date(at * 1000).toISOString();
  return {
    id,
    object: 'v2.core.event_destination',
    created: time,
    description: '',
    enabled_events: ['v1.customer.updated'],
    event_payload: 'thin',
    livemode: false,
    name,
    status: 'enabled',
    type: 'webhook_endpoint',
    updated: time,
    webhook_endpoint: { url },
  };
}
