import { change } from '../events/announce.ts';
import { daySeconds, timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice } from '../provider/records.ts';
import { refused } from '../routing/api-error.ts';

const daysUntilEnd = 5;

/**
 * Starts a bank debit of an invoice, which clears or bounces after five days. A new subscription
 * is active at once, as at the real provider: the payment is only under way.
 */
export function startDebit(provider: Provider, invoice: Invoice, method: string, clears: boolean): void {
  const endsAt = timeOfCustomer(provider, invoice.customer) + daysUntilEnd * daySeconds;
  provider.state.debits[invoice.id] = { invoice: invoice.id, method, ends_at: endsAt, clears };
  invoice.next_payment_attempt = null;
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  if (subscription?.status !== 'incomplete') return;
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'active';
  });
}

/** @throws ApiError if a bank debit of the invoice has not ended: until then it can be neither paid nor closed. */
export function requireNoDebit(provider: Provider, invoice: Invoice): void {
  if (!provider.state.debits[invoice.id]) return;
  throw refused('This invoice has a payment that is being processed.', { code: 'invoice_payment_intent_processing' });
}
