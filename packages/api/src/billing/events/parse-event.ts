import { type Fields, fields, idOf, seconds, text } from '../projection/fields.ts';

/** An event of the provider, with as much of it as every event has. */
export type PaymentEvent = {
  id: string;
  type: string;
  /** The provider's clock, in whole seconds: no order by itself. */
  created: number;
  livemode: boolean;
  object: Fields;
};

/** Null where the JSON is no event. */
export function parseEvent(value: unknown): PaymentEvent | null {
  const event = fields(value);
  const id = text(event?.id);
  const type = text(event?.type);
  const created = seconds(event?.created);
  const object = fields(fields(event?.data)?.object);
  if (event?.object !== 'event' || id === null || type === null || created === null || object === null) return null;

  return { id, type, created, livemode: event.livemode === true, object };
}

/** What an event is about, as far as it says. */
export type Subject = {
  customerId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** The organisations that its own data name: what we once wrote there. */
  claims: string[];
};

export function subjectOf({ type, object }: PaymentEvent): Subject {
  const [kind = ''] = type.split('.');
  const isSubscription = type.startsWith('customer.subscription.');
  const isInvoice = kind === 'invoice';

  return {
    customerId: isCustomer(type) ? text(object.id) : idOf(object.customer),
    subscriptionId: isSubscription ? text(object.id) : subscriptionOf(object),
    invoiceId: isInvoice ? text(object.id) : null,
    claims: [text(object.client_reference_id), text(fields(object.metadata)?.organisation)].filter(
      (claim) => claim !== null,
    ),
  };
}

function isCustomer(type: string): boolean {
  return /^customer\.(created|updated|deleted)$/.test(type);
}

/** An invoice names its subscription by its parent; older shapes, and checkouts, directly. */
function subscriptionOf(object: Fields): string | null {
  const parent = fields(fields(object.parent)?.subscription_details);
  return idOf(parent?.subscription) ?? idOf(object.subscription);
}
