import { announce } from './announce.ts';
import { ApiError, refused } from './api/api-error.ts';
import { payNow, tryCharge } from './invoice.ts';
import type { Provider } from './provider.ts';
import type { Subscription } from './records.ts';
import { startPaidPeriod } from './trial.ts';

/** Wakes a paused subscription with a new period. It undoes no cancellation. */
export function resumePaused(provider: Provider, subscription: Subscription): Subscription {
  if (subscription.status !== 'paused') {
    throw refused(
      `You can only resume subscriptions that are paused. This subscription has a status of \`${subscription.status}\`.`,
    );
  }
  const customer = provider.state.customers[subscription.customer];
  const method = subscription.default_payment_method ?? customer?.invoice_settings.default_payment_method ?? null;
  const charge = tryCharge(provider, method, false);
  if (charge.result !== 'paid') throw new ApiError(402, charge.message, { type: 'card_error', code: 'card_declined' });
  const invoice = startPaidPeriod(provider, subscription);
  announce(provider, 'customer.subscription.resumed', subscription);
  payNow(provider, invoice.id, false);
  return subscription;
}
