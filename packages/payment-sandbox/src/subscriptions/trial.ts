import { announce, change } from '../events/announce.ts';
import { draftInvoice } from '../invoices/draft-invoice.ts';
import { payNow } from '../invoices/pay-invoice.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, Subscription } from '../provider/records.ts';
import { endSubscription } from './end-subscription.ts';
import { firstPeriodEnd } from './new-subscription.ts';
import { pauseFor } from './pause/pause.ts';

/**
 * Ends a trial at its scheduled time: the first paid period starts, or without a payment method the subscription
 * is paused or ends, as its trial settings say.
 */
export function endTrial(provider: Provider, subscription: Subscription): void {
  const customer = provider.state.customers[subscription.customer];
  const method = subscription.default_payment_method ?? customer?.invoice_settings.default_payment_method ?? null;
  const missing = subscription.trial_settings?.end_behavior.missing_payment_method;
  if (method === null && missing === 'cancel') endSubscription(provider, subscription, 'payment_failed');
  else if (method === null && missing === 'pause') pauseFor(provider, subscription, 'trial_end_without_payment_method');
  else startPaidPeriod(provider, subscription);
}

/** Ends a trial early and charges the first period at once; `onSession`: the customer has authenticated it on a page. */
export function endTrialNow(provider: Provider, subscription: Subscription, onSession = false): void {
  payNow(provider, startPaidPeriod(provider, subscription).id, onSession, { authenticated: onSession });
}

/** Starts a paid period now and drafts its invoice. */
function startPaidPeriod(provider: Provider, subscription: Subscription): Invoice {
  const at = timeOfCustomer(provider, subscription.customer);
  let draft: Invoice | undefined;
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'active';
    if (subscription.trial_end !== null) subscription.trial_end = Math.min(subscription.trial_end, at);
    subscription.billing_cycle_anchor = at;
    for (const item of subscription.items.data) {
      item.current_period_start = at;
      item.current_period_end = firstPeriodEnd(item.price, at);
    }
    draft = draftInvoice(provider, subscription, 'subscription_cycle');
    subscription.latest_invoice = draft.id;
  });
  announce(provider, 'invoice.created', draft as Invoice);
  return draft as Invoice;
}
