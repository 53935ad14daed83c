import Stripe from 'stripe';
import { inMode } from '../api/modes.ts';
import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { ProviderEvent } from '../provider/records.ts';
import { oldPayloadShape } from './old-payload.ts';
import { previousAttributes } from './previous-attributes.ts';

const apiVersion = Stripe.API_VERSION;

/** Older events are deleted. The real provider keeps events for thirty days. */
const keptEvents = 3000;

/** Members of an event that differ from their defaults. */
export interface Announcement {
  /** The object before the change, from which `previous_attributes` are computed. */
  before?: object;
  previousAttributes?: object;
  created?: number;
  livemode?: boolean;
  id?: string;
}

/** Creates an event with the current state of an object and plans its deliveries. */
export function announce(provider: Provider, type: string, object: object, about: Announcement = {}): ProviderEvent {
  const event = makeEvent(provider, type, object, about);
  storeEvent(provider, event);
  if (provider.state.switches.duplicate_events) storeEvent(provider, { ...structuredClone(event), id: newId('evt') });
  return event;
}

/** Changes an object in place and announces the change. Without a difference there is no event. */
export function change<T extends object>(provider: Provider, type: string, object: T, alter: (object: T) => void): T {
  const before = structuredClone(object);
  alter(object);
  if (JSON.stringify(before) !== JSON.stringify(object)) announce(provider, type, object, { before });
  return object;
}

function makeEvent(provider: Provider, type: string, object: object, about: Announcement): ProviderEvent {
  const { switches } = provider.state;
  const shape = switches.old_payload_shape ? oldPayloadShape : (value: object) => value;
  const after = shape(structuredClone(object));
  const previous =
    about.previousAttributes ?? (about.before && previousAttributes(shape(structuredClone(about.before)), after));
  const last = Object.values(provider.state.events).at(-1)?.created;
  const created = about.created ?? (switches.same_second && last !== undefined ? last : timeIn(provider, object));
  return {
    id: about.id ?? newId('evt'),
    object: 'event',
    api_version: switches.old_payload_shape ? '2024-06-20' : apiVersion,
    created,
    data: { object: inMode(provider, after), ...(previous && { previous_attributes: previous }) },
    livemode: about.livemode ?? provider.livemode,
    pending_webhooks: 0,
    request: provider.request ?? { id: null, idempotency_key: null },
    type,
  };
}

/** Returns the time of the object's test clock in seconds, or the provider's time without one. */
function timeIn(provider: Provider, object: object): number {
  const { test_clock: own, customer } = object as { test_clock?: string | null; customer?: unknown };
  const clock = own ?? (typeof customer === 'string' ? provider.state.customers[customer]?.test_clock : null);
  if (provider.replayedTime !== null || !clock) return now(provider);
  return provider.state.test_clocks[clock]?.frozen_time ?? now(provider);
}

function storeEvent(provider: Provider, event: ProviderEvent): void {
  const { events } = provider.state;
  events[event.id] = event;
  const ids = Object.keys(events);
  for (const id of ids.slice(0, Math.max(0, ids.length - keptEvents))) delete events[id];
  provider.deliveries.enqueue(event);
}
