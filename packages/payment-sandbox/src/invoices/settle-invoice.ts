import { announce } from '../events/announce.ts';
import { recordPayment } from '../payments/payment.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice } from '../provider/records.ts';
import { afterSettlement } from '../subscriptions/pause/end-pause.ts';
import { followInvoices } from './follow-invoices.ts';

/**
 * Marks an invoice as paid and activates or resumes its subscription. Without a payment method nothing was charged: a
 * credit pays it, or the customer paid outside of the provider.
 */
export function settle(provider: Provider, invoice: Invoice, method: string | null = null): void {
  const at = timeOfCustomer(provider, invoice.customer);
  invoice.status = 'paid';
  delete invoice.status_details;
  invoice.amount_paid = invoice.amount_due;
  invoice.amount_remaining = 0;
  invoice.attempted = true;
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.paid_at = at;
  if (method !== null) recordPayment(provider, invoice, method);
  announce(provider, 'invoice.paid', invoice);
  announce(provider, 'invoice.payment_succeeded', invoice);
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  if (subscription?.status === 'paused') afterSettlement(provider, subscription, invoice);
  else if (subscription) followInvoices(provider, subscription);
}

/** Voids an invoice, and ends a resumption that waits for it. */
export function voidInvoice(provider: Provider, invoice: Invoice): void {
  invoice.status = 'void';
  delete invoice.status_details;
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.voided_at = timeOfCustomer(provider, invoice.customer);
  announce(provider, 'invoice.voided', invoice);
  const id = invoice.parent.subscription_details.subscription;
  // The subscription stays paused, and its resumption can be requested again.
  if (provider.state.resumptions[id]?.invoice === invoice.id) delete provider.state.resumptions[id];
  const subscription = provider.state.subscriptions[id];
  if (subscription) followInvoices(provider, subscription);
}

/**
 * Marks an invoice as uncollectible. As at the real provider, that makes a past-due subscription active if it is its
 * newest one: writing off a debt gives the plan back, unless the service says otherwise.
 */
export function markUncollectible(
  provider: Provider,
  invoice: Invoice,
  reason: 'user_forgiven' | 'subscription_paused' = 'user_forgiven',
): void {
  invoice.status = 'uncollectible';
  invoice.status_details = { uncollectible: { reason } };
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.marked_uncollectible_at = timeOfCustomer(provider, invoice.customer);
  announce(provider, 'invoice.marked_uncollectible', invoice);
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  if (subscription?.status === 'paused') afterSettlement(provider, subscription, invoice);
  else if (subscription) followInvoices(provider, subscription);
}
