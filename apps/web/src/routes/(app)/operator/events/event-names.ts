const names: Record<string, string> = {
  'checkout.session.completed': 'Checkout completed',
  'checkout.session.async_payment_succeeded': 'Delayed payment succeeded',
  'checkout.session.async_payment_failed': 'Delayed payment failed',
  'checkout.session.expired': 'Checkout expired',
  'customer.created': 'Customer created',
  'customer.updated': 'Customer changed',
  'customer.deleted': 'Customer deleted',
  'customer.subscription.created': 'Subscription created',
  'customer.subscription.updated': 'Subscription changed',
  'customer.subscription.deleted': 'Subscription ended',
  'customer.subscription.paused': 'Subscription paused',
  'customer.subscription.resumed': 'Subscription resumed',
  'customer.subscription.trial_will_end': 'Trial ends soon',
  'customer.subscription.pending_update_applied': 'Pending change applied',
  'customer.subscription.pending_update_expired': 'Pending change expired',
  'invoice.created': 'Invoice created',
  'invoice.finalized': 'Invoice finalised',
  'invoice.finalization_failed': 'Invoice could not be finalised',
  'invoice.paid': 'Invoice paid',
  'invoice.payment_succeeded': 'Invoice payment succeeded',
  'invoice.payment_failed': 'Payment failed',
  'invoice.payment_action_required': 'Payment needs the customer',
  'invoice.voided': 'Invoice voided',
  'invoice.marked_uncollectible': 'Invoice written off',
  'charge.refunded': 'Charge refunded',
  'charge.dispute.created': 'Charge disputed',
  'product.updated': 'Product changed',
  'price.created': 'Price created',
  'price.updated': 'Price changed',
  'price.deleted': 'Price deleted',
};

/** "Invoice paid" for invoice.paid. A type that is not listed: "Payment intent succeeded" for payment_intent.succeeded. */
export function eventName(type: string): string {
  if (Object.hasOwn(names, type)) return names[type] ?? type;
  const words = type.replace(/[._]+/g, ' ').trim();
  return words === '' ? 'Event without a type' : words.charAt(0).toUpperCase() + words.slice(1);
}
