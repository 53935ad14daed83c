import { announce } from '../events/announce.ts';
import { draftInvoice, finalizeInvoice, payNow } from '../invoices/invoice.ts';
import type { Provider } from '../provider/provider.ts';
import type { Subscription } from '../provider/records.ts';
import { type NewSubscription, newSubscription } from './new-subscription.ts';

/**
 * Starts a subscription and its first invoice. As with the real provider, the events show it
 * incomplete first, and active only after the invoice has been paid.
 */
export function startSubscription(provider: Provider, input: NewSubscription): Subscription {
  const subscription = newSubscription(provider, input);
  provider.state.subscriptions[subscription.id] = subscription;
  const free = subscription.status === 'trialing';
  const invoice = draftInvoice(provider, subscription, 'subscription_create', { free });
  subscription.latest_invoice = invoice.id;
  announce(provider, 'customer.subscription.created', subscription);
  announce(provider, 'invoice.created', invoice);
  if (input.payFirstInvoice ?? true) payNow(provider, invoice.id, input.onSession ?? false);
  else finalizeInvoice(provider, invoice);
  return subscription;
}
