import { announce, change } from '../../events/announce.ts';
import type { Renewed } from '../../provider/bookkeeping.ts';
import type { Provider } from '../../provider/provider.ts';
import type { Invoice, Subscription } from '../../provider/records.ts';

/** Ends a pause. The subscription is active, or past due if the payment of its resumption failed. */
export function endPause(
  provider: Provider,
  subscription: Subscription,
  renewed: Renewed | null,
  status: 'active' | 'past_due' = 'active',
): void {
  delete provider.state.resumptions[subscription.id];
  delete provider.state.paused_credits[subscription.id];
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = status;
    delete subscription.status_details;
    if (renewed === null) return;
    subscription.items.data = renewed.items;
    subscription.billing_cycle_anchor = renewed.billingCycleAnchor;
  });
  announce(provider, 'customer.subscription.resumed', subscription);
}

/**
 * Called after an invoice of a paused subscription was paid or marked uncollectible. Ends
 * the pause if it is the invoice of the resumption, or if the switch `paid_while_paused` resumes
 * and it is the invoice whose failure paused the subscription.
 */
export function afterSettlement(provider: Provider, subscription: Subscription, invoice: Invoice): void {
  const resumption = provider.state.resumptions[subscription.id];
  if (resumption?.invoice === invoice.id) {
    endPause(provider, subscription, resumption.renewed);
    return;
  }

  const reason = subscription.status_details?.paused.subscription.type;
  const isFailure = reason === 'first_payment_failure' || reason === 'final_payment_failure';
  const resumes = provider.state.switches.paid_while_paused === 'resumes';
  if (isFailure && resumes && subscription.latest_invoice === invoice.id) endPause(provider, subscription, null);
}

/** Called after a payment attempt failed while the subscription was paused. */
export function afterFailedAttempt(provider: Provider, subscription: Subscription, invoice: Invoice): void {
  const resumption = provider.state.resumptions[subscription.id];
  if (resumption?.invoice !== invoice.id || !resumption.onAttempt) return;
  endPause(provider, subscription, resumption.renewed, 'past_due');
}
