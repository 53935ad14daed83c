import { announce, change } from '../events/announce.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, Subscription } from '../provider/records.ts';
import { afterFailedAttempt } from '../subscriptions/pause/end-pause.ts';
import { canPause, pauseFor } from '../subscriptions/pause/pause.ts';
import { holdInvoice } from '../subscriptions/pause/pause-collection.ts';
import { type Charge, payingMethod, tryCharge } from './charge.ts';
import { startDebit } from './debit.ts';
import { finalizeInvoice } from './draft-invoice.ts';
import { dunningAfterFailure } from './dunning.ts';
import { sendInvoice } from './send-invoice.ts';
import { settle } from './settle-invoice.ts';

interface PayOptions {
  /** The payment was requested, so it does not count as a retry. */
  manual?: boolean;
  /** The payment method to charge; by default the subscription's, then the customer's. */
  paymentMethod?: string | undefined;
  /** The customer has authenticated the payment on a page. */
  authenticated?: boolean;
}

/**
 * Finalises an invoice, charges it, or sends it if it is collected so, or holds it while collection is paused, and updates its subscription according to the result. A
 * decline is a result, not an error.
 *
 * @throws Error if there is no such invoice.
 */
export function payNow(
  provider: Provider,
  invoiceId: string,
  onSession: boolean,
  { manual = false, paymentMethod, authenticated = false }: PayOptions = {},
): Charge | { result: 'not_charged' } {
  const invoice = provider.state.invoices[invoiceId];
  if (!invoice) throw new Error(`There is no invoice ${invoiceId}.`);
  const pause = provider.state.subscriptions[invoice.parent.subscription_details.subscription]?.pause_collection;
  if (pause && !manual) {
    holdInvoice(provider, invoice, pause.behavior);
    return { result: 'not_charged' };
  }
  if (invoice.collection_method === 'send_invoice' && !manual) {
    sendInvoice(provider, invoice);
    return { result: 'not_charged' };
  }
  finalizeInvoice(provider, invoice);
  const method = paymentMethod ?? payingMethod(provider, invoice);
  const charge =
    invoice.amount_due === 0
      ? ({ result: 'paid' } as const)
      : tryCharge(provider, method, { onSession, authenticated, reason: invoice.billing_reason });
  if (invoice.amount_due > 0 && !(manual && invoice.attempted)) invoice.attempt_count += 1;
  invoice.attempted = true;
  if (charge.result === 'paid') settle(provider, invoice, method);
  else if (charge.result === 'processing') startDebit(provider, invoice, method ?? '', charge.clears);
  else fail(provider, invoice, charge.result, manual);
  return charge;
}

/**
 * Records a failed payment: the next retry of the invoice, its events, and the status of its subscription. An attempt
 * that was requested (`manual`) counts as no retry.
 */
export function fail(
  provider: Provider,
  invoice: Invoice,
  result: 'declined' | 'requires_action' | 'no_card',
  manual: boolean,
): void {
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  const isFirst = invoice.billing_reason === 'subscription_create';
  const end = isFirst || manual ? null : dunningAfterFailure(provider, invoice);
  announce(provider, 'invoice.payment_failed', invoice);
  if (result === 'requires_action') announce(provider, 'invoice.payment_action_required', invoice);
  if (!subscription || isFirst) return;
  if (subscription.status === 'paused') afterFailedAttempt(provider, subscription, invoice);
  if (subscription.status === 'active' || subscription.status === 'trialing')
    markPastDue(provider, subscription, invoice);
  end?.(subscription);
}

/**
 * Makes a subscription past due after a failed payment. With the switch `first_failure`, a failed
 * renewal pauses it instead.
 */
function markPastDue(provider: Provider, subscription: Subscription, invoice: Invoice): void {
  const pauses = provider.state.switches.first_failure === 'pause' && invoice.billing_reason === 'subscription_cycle';
  if (pauses && canPause(subscription)) {
    pauseFor(provider, subscription, 'first_payment_failure');
    return;
  }
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'past_due';
  });
}
