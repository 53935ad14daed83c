import { change } from '../events/announce.ts';
import { daySeconds, timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, Subscription } from '../provider/records.ts';
import { endSubscription, isFinal } from '../subscriptions/end-subscription.ts';
import { canPause, pauseFor } from '../subscriptions/pause/pause.ts';

/** Days from each failure to the next retry. */
const retryAfterDays = [3, 5, 7];

/**
 * Plans the next retry of an invoice after a failed charge. After the last retry it returns the
 * function that ends the dunning of the subscription, otherwise null.
 */
export function dunningAfterFailure(
  provider: Provider,
  invoice: Invoice,
): ((subscription: Subscription) => void) | null {
  const days = invoice.auto_advance ? retryAfterDays[invoice.attempt_count - 1] : undefined;
  if (days !== undefined) {
    invoice.next_payment_attempt = timeOfCustomer(provider, invoice.customer) + days * daySeconds;
    return null;
  }
  const wasLast = invoice.next_payment_attempt !== null;
  invoice.next_payment_attempt = null;
  return wasLast ? (subscription) => endDunning(provider, subscription) : null;
}

function endDunning(provider: Provider, subscription: Subscription): void {
  if (isFinal(subscription)) return;
  const { dunning_end: end } = provider.state.switches;
  if (subscription.status === 'paused') return;
  if (end === 'pause' && canPause(subscription)) pauseFor(provider, subscription, 'final_payment_failure');
  // The real provider cancels a subscription that it cannot pause.
  else if (end === 'cancel' || end === 'pause') endSubscription(provider, subscription, 'payment_failed');
  if (end === 'unpaid') {
    change(provider, 'customer.subscription.updated', subscription, () => {
      subscription.status = 'unpaid';
    });
  }
}
