/** The handlers of the event types that we subscribe to. Events of other types are stored and change nothing. */
export type HandlerName =
  | 'checkout_completed'
  | 'checkout_closed'
  | 'checkout_failed'
  | 'state'
  | 'invoice_settled'
  | 'invoice_problem'
  | 'note'
  | 'customer_gone'
  | 'prices';

/** Returns the handler of an event type; null if the type changes nothing. */
export function handlerOf(type: string): HandlerName | null {
  if (type.startsWith('price.')) return 'prices';
  return handlers[type] ?? null;
}

const handlers: Record<string, HandlerName | undefined> = {
  __proto__: null as never,
  'checkout.session.completed': 'checkout_completed',
  'checkout.session.async_payment_succeeded': 'checkout_completed',
  'checkout.session.expired': 'checkout_closed',
  'checkout.session.async_payment_failed': 'checkout_failed',
  'customer.subscription.created': 'state',
  'customer.subscription.updated': 'state',
  'customer.subscription.deleted': 'state',
  'customer.subscription.paused': 'state',
  'customer.subscription.resumed': 'state',
  'customer.subscription.trial_will_end': 'state',
  'customer.subscription.pending_update_applied': 'state',
  'customer.subscription.pending_update_expired': 'state',
  'invoice.paid': 'invoice_settled',
  'invoice.voided': 'invoice_settled',
  'invoice.marked_uncollectible': 'invoice_settled',
  'invoice.payment_failed': 'invoice_problem',
  'invoice.payment_action_required': 'invoice_problem',
  'invoice.finalization_failed': 'note',
  'charge.refunded': 'note',
  'charge.dispute.created': 'note',
  'customer.deleted': 'customer_gone',
  'product.updated': 'prices',
};

function typesOf(handler: HandlerName): string[] {
  return Object.keys(handlers).filter((type) => handlers[type] === handler);
}

export const invoiceProblemTypes = typesOf('invoice_problem');
export const invoiceClosedTypes = typesOf('invoice_settled');

/** Every type that the provider's webhook endpoint has to be subscribed to. */
export const subscribedTypes = [...Object.keys(handlers), 'price.created', 'price.updated', 'price.deleted'];
