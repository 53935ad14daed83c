import { type Fields, fields, idOf, seconds, textOf } from '../../providers/untrusted-json.ts';

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
export type Subject = {
  customerId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** The organisations in its reference and metadata, which we wrote there. */
  claims: string[];
};

/** Returns the objects that an event names. */
export function subjectOf({ type, object }: PaymentEvent): Subject {
  const [kind = ''] = type.split('.');
  const isSubscription = type.startsWith('customer.subscription.');
  const isInvoice = kind === 'invoice';

  return {
    customerId: isCustomer(type) ? textOf(object.id) : idOf(object.customer),
    subscriptionId: isSubscription ? textOf(object.id) : subscriptionOf(object),
    invoiceId: isInvoice ? textOf(object.id) : null,
    claims: [textOf(object.client_reference_id), textOf(fields(object.metadata)?.organisation)].filter(
      (claim) => claim !== null,
    ),
  };
}

function isCustomer(type: string): boolean {
  return /^customer\.(created|updated|deleted)$/.test(type);
}

/** An invoice names its subscription in `parent`; older API versions and checkouts name it directly. */
function subscriptionOf(object: Fields): string | null {
  const parent = fields(fields(object.parent)?.subscription_details);
  return idOf(parent?.subscription) ?? idOf(object.subscription);
}
