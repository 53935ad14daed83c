import { announce, change } from '../events/announce.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, Subscription } from '../provider/records.ts';
import { afterSettlement } from '../subscriptions/pause/end-pause.ts';

/** Marks an invoice as paid and activates or resumes its subscription. */
export function settle(provider: Provider, invoice: Invoice): void {
  const at = timeOfCustomer(provider, invoice.customer);
  invoice.status = 'paid';
  invoice.amount_paid = invoice.amount_due;
  invoice.amount_remaining = 0;
  invoice.attempted = true;
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.paid_at = at;
  announce(provider, 'invoice.paid', invoice);
  announce(provider, 'invoice.payment_succeeded', invoice);
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  if (subscription?.status === 'paused') afterSettlement(provider, subscription, invoice);
  else if (subscription) activate(provider, subscription, invoice);
}

/** Makes a subscription active if the paid invoice was its first or its latest one. */
function activate(provider: Provider, subscription: Subscription, invoice: Invoice): void {
  const { status } = subscription;
  const isFirst = status === 'incomplete' && invoice.billing_reason === 'subscription_create';
  const owed = status === 'past_due' || status === 'unpaid';
  if (!isFirst && !(owed && subscription.latest_invoice === invoice.id)) return;
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'active';
  });
}

/** Voids an invoice, and ends a resumption that waits for it. */
export function voidInvoice(provider: Provider, invoice: Invoice): void {
  invoice.status = 'void';
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.voided_at = timeOfCustomer(provider, invoice.customer);
  announce(provider, 'invoice.voided', invoice);
  const id = invoice.parent.subscription_details.subscription;
  // The subscription stays paused, and its resumption can be requested again.
  if (provider.state.resumptions[id]?.invoice === invoice.id) delete provider.state.resumptions[id];
}

/** Marks an invoice as uncollectible, and settles the pause of its subscription. */
export function markUncollectible(provider: Provider, invoice: Invoice): void {
  invoice.status = 'uncollectible';
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.marked_uncollectible_at = timeOfCustomer(provider, invoice.customer);
  announce(provider, 'invoice.marked_uncollectible', invoice);
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  if (subscription?.status === 'paused') afterSettlement(provider, subscription, invoice);
}
