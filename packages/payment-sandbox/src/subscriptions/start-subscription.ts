import { setDiscounts } from '../discounts/discount.ts';
import { announce } from '../events/announce.ts';
import { draftInvoice, finalizeInvoice } from '../invoices/draft-invoice.ts';
import { payNow } from '../invoices/pay-invoice.ts';
import type { Provider } from '../provider/provider.ts';
import type { Subscription } from '../provider/records.ts';
import { type NewSubscription, newSubscription } from './new-subscription.ts';

/**
 * Starts a subscription and its first invoice. As with the real provider, the events show it
 * incomplete first, and active only after the invoice has been paid. An invoice that is sent stays
 * a draft for an hour, and the subscription is active.
 */
export function startSubscription(provider: Provider, input: NewSubscription): Subscription {
  const subscription = newSubscription(provider, input);
  setDiscounts(provider, subscription, input.discounts?.named ?? [], input.discounts?.checkout);
  provider.state.subscriptions[subscription.id] = subscription;
  const free = subscription.status === 'trialing';
  const invoice = draftInvoice(provider, subscription, 'subscription_create', { free });
  subscription.latest_invoice = invoice.id;
  announce(provider, 'customer.subscription.created', subscription);
  announce(provider, 'invoice.created', invoice);
  if (invoice.collection_method === 'send_invoice') return subscription;
  if (input.payFirstInvoice ?? true) {
    // On the page of a checkout the customer has authenticated the payment before.
    const onSession = input.onSession ?? false;
    payNow(provider, invoice.id, onSession, { authenticated: onSession });
  } else finalizeInvoice(provider, invoice);
  return subscription;
}
