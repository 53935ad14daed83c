import { type Fields, fields, idOf, seconds, textOf } from '../../platform/providers/untrusted-json.ts';

/** An event of the provider, with the fields that every event has. */
export type PaymentEvent = {
  id: string;
  type: string;
  /** The provider's time in whole seconds, so it does not order the events of one second. */
  created: number;
  livemode: boolean;
  /** The object that the event is about, as it was after the change. */
  object: Fields;
  /** The object's values before the change; null for an event that shows no change. */
  previous: Fields | null;
};

/** Parses an event. Returns null if the value is not an event. */
export function parseEvent(value: unknown): PaymentEvent | null {
  const event = fields(value);
  const id = textOf(event?.id);
  const type = textOf(event?.type);
  const created = seconds(event?.created);
  const data = fields(event?.data);
  const object = fields(data?.object);
  if (event?.object !== 'event' || id === null || type === null || created === null || object === null) return null;

  const previous = fields(data?.previous_attributes);
  return { id, type, created, livemode: event.livemode === true, object, previous };
}

/** The objects that an event names. */
export type EventReferences = {
  customerId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** The organisations in its reference and metadata, which we wrote there. */
  organisations: string[];
};

/** Returns the objects that an event names. `state` is the subscription that it shows, if that is read already. */
export function referencesOf(event: PaymentEvent, state: SubscriptionState | null): EventReferences {
  const { organisation, ...named } = state === null ? objectsOfEvent(event) : objectsOfState(state);
  const organisations = [textOf(event.object.client_reference_id), organisation].filter((id) => id !== null);
  return { ...named, organisations };
}

type NamedObjects = Omit<EventReferences, 'organisations'> & { organisation: string | null };

function objectsOfEvent({ type, object }: PaymentEvent): NamedObjects {
  const [kind = ''] = type.split('.');
  const isSubscription = type.startsWith('customer.subscription.');
  const isInvoice = kind === 'invoice';

  return {
    customerId: isCustomer(type) ? textOf(object.id) : idOf(object.customer),
    subscriptionId: isSubscription ? textOf(object.id) : subscriptionOf(object),
    invoiceId: isInvoice ? textOf(object.id) : null,
    organisation: textOf(fields(object.metadata)?.organisation),
  };
}

function objectsOfState({ id, customerId, metadata: { organisation } }: SubscriptionState): NamedObjects {
  return { customerId, subscriptionId: id, invoiceId: null, organisation };
}

function isCustomer(type: string): boolean {
  return /^customer\.(created|updated|deleted)$/.test(type);
}

/** An invoice names its subscription in `parent`; older API versions and checkouts name it directly. */
function subscriptionOf(object: Fields): string | null {
  const parent = fields(fields(object.parent)?.subscription_details);
  return idOf(parent?.subscription) ?? idOf(object.subscription);
}

/** A subscription as an event or an answer of the provider shows it, in any version of its API. Times in seconds. */
export type SubscriptionState = {
  id: string;
  customerId: string;
  status: string;
  statusClass: StatusClass;
  createdAt: number | null;
  /** The provider's flag itself; an end is scheduled by it or by `cancelAt`. */
  cancelFlag: boolean;
  cancelAt: number | null;
  /** Whether an end is scheduled, in either form. */
  scheduled: boolean;
  endsAt: number | null;
  currentPeriodStart: number | null;
  currentPeriodEnd: number | null;
  items: SubscriptionItem[];
  /** The schedule that manages the subscription: until its release, the provider refuses to change the end. */
  scheduleId: string | null;
  /** The reason of a pause; null without a pause or a known reason. */
  pauseReason: string | null;
  pausedAt: number | null;
  /** Whether the subscription has its own payment method; otherwise the customer's default one is charged. */
  hasPaymentMethod: boolean;
  metadata: { organisation: string | null; tier: string | null };
};

export type SubscriptionItem = {
  id: string | null;
  priceId: string | null;
  lookupKey: string | null;
  productId: string | null;
  quantity: number;
};

/**
 * Reads a subscription tolerantly, because a payload's shape follows the API version of the
 * webhook endpoint, not ours. Null without an id, a customer or a status.
 */
export function readSubscriptionState(value: unknown): SubscriptionState | null {
  const subscription = fields(value);
  const id = textOf(subscription?.id);
  const customerId = idOf(subscription?.customer);
  const status = textOf(subscription?.status);
  if (subscription === null || id === null || customerId === null || status === null) return null;

  const items = dataOf(subscription.items).map(fields);
  const cancelFlag = subscription.cancel_at_period_end === true;
  const cancelAt = seconds(subscription.cancel_at);
  const { start: currentPeriodStart, end: currentPeriodEnd } = earliestPeriod(items) ?? periodOf(subscription);
  const scheduled = cancelFlag || cancelAt !== null;
  const metadata = fields(subscription.metadata);
  const paused = status === 'paused' ? fields(fields(subscription.status_details)?.paused) : null;

  return {
    id,
    customerId,
    status,
    statusClass: statusClassOf(status),
    createdAt: seconds(subscription.created),
    cancelFlag,
    cancelAt,
    scheduled,
    endsAt: scheduled ? (cancelAt ?? currentPeriodEnd) : null,
    currentPeriodStart,
    currentPeriodEnd,
    items: items.map(readItem),
    scheduleId: idOf(subscription.schedule),
    pauseReason: textOf(fields(paused?.subscription)?.type),
    pausedAt: seconds(paused?.transitioned_at),
    hasPaymentMethod: idOf(subscription.default_payment_method ?? subscription.default_source) !== null,
    metadata: { organisation: textOf(metadata?.organisation), tier: textOf(metadata?.tier) },
  };
}

/** Reads a subscription from an answer of the provider. @throws Error if it cannot be read. */
export function requireSubscriptionState(answer: unknown, id: string): SubscriptionState {
  const state = readSubscriptionState(answer);
  if (state === null) throw new Error(`The payment provider's answer about ${id} cannot be read.`);
  return state;
}

function dataOf(list: unknown): unknown[] {
  const data = fields(list)?.data;
  return Array.isArray(data) ? data : [];
}

type Period = { start: number | null; end: number | null };

function periodOf(object: Fields | null): Period {
  return { start: seconds(object?.current_period_start), end: seconds(object?.current_period_end) };
}

/** The period of the items that ends first, of equal ends the one that began first; null if no item has one. */
function earliestPeriod(items: (Fields | null)[]): Period | null {
  const periods = items.map(periodOf).filter(({ end }) => end !== null);
  const order = (one: Period, other: Period) =>
    Number(one.end) - Number(other.end) || Number(one.start) - Number(other.start);
  return periods.toSorted(order)[0] ?? null;
}

function readItem(item: Fields | null): SubscriptionItem {
  const price = fields(item?.price) ?? fields(item?.plan);
  return {
    id: textOf(item?.id),
    priceId: idOf(item?.price) ?? idOf(item?.plan),
    lookupKey: textOf(price?.lookup_key),
    productId: idOf(price?.product),
    quantity: seconds(item?.quantity) ?? 1,
  };
}

/** The class of a status. An unknown status is of the class `other`. */
export type StatusClass = 'ended' | 'past_due' | 'other';

export function statusClassOf(status: string): StatusClass {
  if (status === 'canceled' || status === 'incomplete_expired') return 'ended';
  return status === 'past_due' ? 'past_due' : 'other';
}

/**
 * Computes an object before a change. The provider's `previous_attributes` hold only the changed members of a hash
 * (null for an absent one) but the whole of an array. So a hash is undone member by member, and every other value is
 * replaced.
 */
export function objectBefore(after: Fields, previous: Fields): Fields {
  const before = { ...after };
  for (const [name, value] of Object.entries(previous)) {
    const now = fields(after[name]);
    const then = fields(value);
    before[name] = now !== null && then !== null ? objectBefore(now, then) : value;
  }
  return before;
}

/** Whether a subscription has ended and cannot be reactivated. */
export function isEnded({ statusClass }: Pick<SubscriptionState, 'statusClass'>): boolean {
  return statusClass === 'ended';
}
