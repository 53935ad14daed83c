import Stripe from 'stripe';
import { findRoute, routes } from '../api/routes.ts';
import type { ProviderEvent } from '../provider/records.ts';
import type { Route } from '../routing/route.ts';
import { differences } from './differences.ts';
import { sdkTypes } from './sdk-types.ts';

/** Compares everything that a sandbox answers and sends with the types of the SDK. */
export interface TypeCheck {
  /** The HTTP client for the SDK. It compares every answer, errors included. */
  httpClient: ReturnType<typeof Stripe.createFetchHttpClient>;
  /** Compares events, as they are sent to endpoints. */
  read(events: ProviderEvent[]): void;
  /** Each difference once, with an example's path; `[]` is any index of a list. */
  found(): string[];
  /** The `object` of everything that was read. */
  objects(): string[];
  /** The routes whose answer was not read. */
  unread(): string[];
}

type Answer = { object?: unknown; data?: unknown };

/** Starts a comparison that has read nothing. */
export function startTypeCheck(): TypeCheck {
  const found = new Set<string>();
  const objects = new Set<string>();
  const answered = new Set<Route>();
  return {
    httpClient: Stripe.createFetchHttpClient(recordingFetch),
    read(events) {
      for (const event of events) readAnswer(JSON.parse(JSON.stringify(event)));
    },
    found: () => [...found].sort(),
    objects: () => [...objects].sort(),
    unread: () =>
      routes.filter(({ route }) => !answered.has(route)).map(({ route }) => `${route.method} ${route.path}`),
  };

  async function recordingFetch(...request: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(...request);
    if (!response.ok) {
      const { error } = (await response.clone().json()) as { error: unknown };
      note(differences(sdkTypes(), sdkTypes().named('StripeRawError'), error, 'error'));
      return response;
    }
    const [address, { method = 'GET' } = {}] = request;
    const found = findRoute(method, new URL(String(address)).pathname);
    if (found) answered.add(found.route);
    readAnswer((await response.clone().json()) as Answer);
    return response;
  }

  function readAnswer(answer: Answer): void {
    collect(answer);
    if (answer.object === 'list' && Array.isArray(answer.data)) {
      note(differences(sdkTypes(), sdkTypes().named('ApiList'), { ...answer, data: [] }, 'list'));
      for (const one of answer.data) note(differencesOf(one));
    } else if ('next_page_url' in answer && Array.isArray(answer.data)) {
      // Version 2 of the API. Its only list here.
      const type = sdkTypes().named('V2.Core.EventDestination');
      for (const one of answer.data) note(differences(sdkTypes(), type, one, 'v2.core.event_destination'));
    } else note(differencesOf(answer));
  }

  function note(sentences: string[]): void {
    for (const sentence of sentences) found.add(sentence.replace(/\[\d+\]/g, '[]'));
  }

  function collect(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    if ('object' in value && typeof value.object === 'string') objects.add(value.object);
    for (const member of Object.values(value)) collect(member);
  }
}

/** Returns the differences between an object and the SDK's type of its `object`. */
export function differencesOf(value: { object?: unknown }): string[] {
  const { object } = value;
  if (object === 'event') return ofEvent(value as ProviderEvent);
  const types = sdkTypes().of(String(object));
  if (types.length === 0) return [`${object}: the SDK knows no such object`];
  return nearest(types.map((type) => differences(sdkTypes(), type, value, String(object))));
}

/** Returns the differences of an event. `previous_attributes` may hold any part of its object. */
function ofEvent(event: ProviderEvent): string[] {
  const type = sdkTypes().ofEvent(event.type);
  if (type === undefined) return [`event ${event.type}: the SDK knows no such event`];
  const { previous_attributes: previous, object } = event.data;
  const whole = differences(sdkTypes(), type, { ...event, data: { object } }, `event ${event.type}`);
  if (previous === undefined) return whole;

  const parts = sdkTypes().of(String((object as { object?: unknown }).object));
  const path = `event ${event.type}.data.previous_attributes`;
  return [...whole, ...nearest(parts.map((part) => differences(sdkTypes(), part, previous, path, 'part')))];
}

function nearest(all: string[][]): string[] {
  return all.reduce((best, one) => (one.length < best.length ? one : best));
}
