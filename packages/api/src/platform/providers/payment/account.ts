import { type Ask, answeredAt } from './connection.ts';
import { listAll, pagesOf } from './list-all.ts';

export type WebhookEndpoint = { url: string; isEnabled: boolean; types: string[] };

/** Returns the account's webhook endpoints. @throws AppError PROVIDER_UNAVAILABLE. */
export async function webhookEndpoints(ask: Ask): Promise<WebhookEndpoint[]> {
  const all = await listAll(ask, (provider, paging) => provider.webhookEndpoints.list(paging));
  return all.map(({ url, status, enabled_events }) => ({
    url,
    isEnabled: status === 'enabled',
    types: enabled_events,
  }));
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
