import { type Fields, fields, idOf, seconds, textOf } from '../untrusted-json.ts';
import { isTaxDisabled, readSubscriptionState, type SubscriptionState } from './subscription-state.ts';

/** An event of the provider, with the fields that every event has. */
export type PaymentEvent = {
  id: string;
  type: string;
  /** The provider's time in whole seconds, so it does not order the events of one second. */
  created: number;
  livemode: boolean;
  /** The id of the object that the event is about. */
  objectId: string | null;
  /** The object as it was after the change, in the provider's form: the functions of this folder read it. */
  object: object;
  /** The object's values before the change; null for an event that shows no change. */
  previous: object | null;
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
  return { id, type, created, livemode: event.livemode === true, objectId: textOf(object.id), object, previous };
}

/**
 * Returns the type of an event with a thin payload, which tells what happened and shows no object; null for any other
 * value. The provider sends such payloads to an endpoint that was set up for them.
 */
export function thinTypeOf(value: unknown): string | null {
  const event = fields(value);
  const type = textOf(event?.type);
  return event?.object === 'v2.core.event' && type !== null && /^[a-z0-9_.]{1,100}$/.test(type) ? type : null;
}

/** What an event shows. */
export type ShownObject = Pick<PaymentEvent, 'objectId' | 'object' | 'previous'>;

/** Reads what a stored payload of an event shows; null if it cannot be read. */
export function parsePayload(payload: string): ShownObject | null {
  try {
    const data = fields(fields(JSON.parse(payload))?.data);
    const object = fields(data?.object);
    return object && { objectId: textOf(object.id), object, previous: fields(data?.previous_attributes) };
  } catch {
    return null;
  }
}

/** Returns the subscription that an event shows, after its change; null if it cannot be read. */
export function subscriptionAfter({ object }: ShownObject): SubscriptionState | null {
  return readSubscriptionState(object);
}

/** Returns the subscription before an event's change; null if the event shows none, or if it cannot be read. */
export function subscriptionBefore({ object, previous }: ShownObject): SubscriptionState | null {
  return previous === null ? null : readSubscriptionState(objectBefore(object as Fields, previous as Fields));
}

/** Whether an event shows that the provider has stopped to compute the tax, such as for want of an address. */
export function losesTax({ object, previous }: ShownObject): boolean {
  return isTaxDisabled(object as Fields) && (previous === null || 'automatic_tax' in previous);
}

/** The payment that a dispute, a refund or a warning is about, by its payment intent and its charge. */
export function paymentOfEvent({ object }: ShownObject): { intent: string | null; charge: string | null } {
  const { payment_intent, charge } = object as Fields;
  return { intent: idOf(payment_intent), charge: idOf(charge) };
}

/** What a dispute, a refund or a warning says: its amount in minor units, its status and its reason. */
export function moneyOfEvent({ object }: ShownObject) {
  const { amount, amount_refunded, currency, status, reason, fraud_type } = object as Fields;
  const code = textOf(currency);
  return {
    amount: seconds(amount_refunded) ?? seconds(amount),
    currency: code !== null && /^[a-z]{3}$/i.test(code) ? code : null,
    status: textOf(status),
    reason: textOf(reason) ?? textOf(fraud_type),
  };
}

/**
 * What an event shows as changed of a customer: `methodId` is its new default payment method; null if that went,
 * undefined if it stayed.
 */
export function changesOfCustomer({ object, previous }: ShownObject) {
  const before = (previous ?? {}) as Fields;
  const settings = fields((object as Fields).invoice_settings);
  const isNewMethod = 'default_payment_method' in (fields(before.invoice_settings) ?? {});
  return {
    contact: 'name' in before || 'email' in before || 'address' in before,
    balance: 'balance' in before,
    methodId: isNewMethod ? idOf(settings?.default_payment_method) : undefined,
  };
}

/** The names of what an event about a price or product concerns. */
export function offerOfEvent({ type, object, objectId }: PaymentEvent) {
  const { lookup_key, product } = object as Fields;
  const productId = type.startsWith('product.') ? objectId : idOf(product);
  return { id: objectId, lookupKey: textOf(lookup_key), productId };
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
  const { client_reference_id } = event.object as Fields;
  const organisations = [textOf(client_reference_id), organisation].filter((id) => id !== null);
  return { ...named, organisations };
}

type NamedObjects = Omit<EventReferences, 'organisations'> & { organisation: string | null };

function objectsOfEvent({ type, object: shown, objectId }: PaymentEvent): NamedObjects {
  const object = shown as Fields;
  const [kind = ''] = type.split('.');
  const isSubscription = type.startsWith('customer.subscription.');
  const isInvoice = kind === 'invoice';

  return {
    customerId: isCustomer(type) ? objectId : idOf(object.customer),
    subscriptionId: isSubscription ? objectId : subscriptionOf(object),
    invoiceId: isInvoice ? objectId : null,
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
  return idOf(parent?.subscription) ?? idOf(object.subscription) ?? idOf(object.released_subscription);
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
