import Stripe from 'stripe';
import { type Ask, answeredAt } from './connection.ts';
import { listAll, pagesOf } from './list-all.ts';

export type WebhookEndpoint = {
  id: string;
  url: string;
  isEnabled: boolean;
  types: string[];
  /** The version in which events are sent to it; null for the account's default. */
  apiVersion: string | null;
};

/** The version of events that this service is written for. */
export const apiVersion: string = Stripe.API_VERSION;

type EventTypes = Stripe.WebhookEndpointCreateParams.EnabledEvent[];

/** Returns the account's webhook endpoints. @throws AppError PROVIDER_UNAVAILABLE. */
export async function webhookEndpoints(ask: Ask): Promise<WebhookEndpoint[]> {
  const all = await listAll(ask, (provider, paging) => provider.webhookEndpoints.list(paging));
  return all.map(({ id, url, status, enabled_events, api_version }) => ({
    id,
    url,
    isEnabled: status === 'enabled',
    types: enabled_events,
    apiVersion: api_version,
  }));
}

/**
 * Returns the names of the event destinations that send thin events, which hold no object, to a URL.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function thinDestinations(ask: Ask, url: string): Promise<string[]> {
  const all = await ask((provider) =>
    provider.v2.core.eventDestinations.list({ include: ['webhook_endpoint.url'] }).autoPagingToArray({ limit: 1000 }),
  );
  const ours = all.filter(({ webhook_endpoint: endpoint, status }) => endpoint?.url === url && status === 'enabled');
  return ours.filter((each) => each.event_payload === 'thin').map(({ name }) => name);
}

/**
 * Makes a webhook endpoint that gets events of some types in our version. Returns its secret, which the provider tells
 * this once.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function createWebhookEndpoint(
  ask: Ask,
  { url, types, metadata }: { url: string; types: string[]; metadata: Record<string, string> },
): Promise<{ id: string; secret: string }> {
  const params = { url, enabled_events: types as EventTypes, api_version: Stripe.API_VERSION, metadata };
  const { id, secret } = await ask((provider) => provider.webhookEndpoints.create(params));
  if (secret === undefined) throw new Error(`The provider told no secret of the endpoint ${id}.`);
  return { id, secret };
}

/** Makes an endpoint get events of exactly these types. @throws AppError PROVIDER_UNAVAILABLE. */
export async function setWebhookTypes(ask: Ask, id: string, types: string[]): Promise<void> {
  await ask((provider) => provider.webhookEndpoints.update(id, { enabled_events: types as EventTypes }));
}

/**
 * Yields the events that the provider could not deliver, a hundred at a time, as they are: `parseEvent` reads them. They
 * may belong to other endpoints, be a month old, and have the API version of their creation.
 *
 * @throws AppError PROVIDER_UNAVAILABLE, also if the list is incomplete.
 */
export async function* undeliveredEvents(ask: Ask): AsyncGenerator<{ events: object[]; more: boolean }> {
  const pages = pagesOf(ask, (provider, cursor) => provider.events.list({ delivery_success: false, ...cursor }));
  for await (const { data, has_more } of pages) yield { events: data, more: has_more };
}

/** The provider refuses a request for more types. */
const maxTypes = 20;

/**
 * Yields the events of some types since a second of the provider's clock, as `undeliveredEvents`: also those that it
 * never tried to deliver because the endpoint was disabled. It keeps them for 30 days.
 *
 * @throws AppError PROVIDER_UNAVAILABLE, also if a list is incomplete.
 */
export async function* eventsSince(ask: Ask, second: number, types: string[]): AsyncGenerator<object[]> {
  for (let at = 0; at < types.length; at += maxTypes) {
    const some = { types: types.slice(at, at + maxTypes), created: { gte: second } };
    for await (const { data } of pagesOf(ask, (provider, cursor) => provider.events.list({ ...some, ...cursor })))
      yield data;
  }
}

/** Returns the mode of an object of the account (null without any), and the second of the provider's clock. */
export async function readAccount(ask: Ask): Promise<{ livemode: boolean | null; at: number | null }> {
  const listed = await ask((provider) => provider.prices.list({ limit: 1 }));
  return { livemode: listed.data[0]?.livemode ?? null, at: answeredAt(listed) };
}
