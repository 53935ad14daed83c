import type Stripe from 'stripe';
import { unitAmount } from '../../catalogue/price-currencies.ts';
import { announce, change } from '../../events/announce.ts';
import { newLine } from '../../invoices/new-invoice.ts';
import { timeOfCustomer } from '../../provider/clock.ts';
import type { Provider } from '../../provider/provider.ts';
import type { InvoiceLine, Subscription } from '../../provider/records.ts';
import { ApiError, refused } from '../../routing/api-error.ts';

type PauseReason =
  | 'first_payment_failure'
  | 'final_payment_failure'
  | 'pause_requested'
  | 'trial_end_without_payment_method';

/** Whether a subscription can be paused outside of a trial: only in flexible billing mode and without a schedule. */
export function canPause(subscription: Subscription): boolean {
  return subscription.billing_mode.type === 'flexible' && subscription.schedule === null;
}

/** Pauses a subscription and records the reason in its `status_details`. Its invoices do not change. */
export function pauseFor(provider: Provider, subscription: Subscription, reason: PauseReason): void {
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'paused';
    subscription.status_details = {
      paused: {
        subscription: { type: reason },
        transitioned_at: timeOfCustomer(provider, subscription.customer),
        type: 'subscription',
      },
    };
  });
  announce(provider, 'customer.subscription.paused', subscription);
}

/**
 * Performs POST /v1/subscriptions/:id/pause. The unused time that has been paid for
 * becomes a credit on the next invoice, unless `unused_time_from` is `none`.
 *
 * @throws ApiError if it is not active, has a schedule, or is in classic billing mode.
 */
export function pauseOnRequest(
  provider: Provider,
  subscription: Subscription,
  { bill_for: billing }: Stripe.SubscriptionPauseParams,
): Subscription {
  if (subscription.status !== 'active') {
    throw refused(
      `You can only pause subscriptions that are active. This subscription has a status of \`${subscription.status}\`.`,
    );
  }
  if (subscription.schedule !== null) {
    throw refused('A subscription with an attached schedule cannot be paused.');
  }
  if (!canPause(subscription)) {
    throw new ApiError(400, 'Only subscriptions in flexible billing mode can be paused.');
  }

  const from = billing?.unused_time_from?.type ?? 'now';
  if (from !== 'none') {
    provider.state.paused_credits[subscription.id] = true;
    const waiting = provider.state.pending_lines[subscription.id] ?? [];
    const credits = subscription.items.data.map((item) => {
      const since = from === 'now' ? timeOfCustomer(provider, subscription.customer) : item.current_period_start;
      return remainderLine(provider, subscription, item, since, -1, 'Unused time');
    });
    provider.state.pending_lines[subscription.id] = [...waiting, ...credits];
  }
  pauseFor(provider, subscription, 'pause_requested');
  return subscription;
}

/** Returns an invoice line for the part of an item's period after a time. The sign -1 makes it a credit. */
export function remainderLine(
  provider: Provider,
  subscription: Subscription,
  item: Subscription['items']['data'][number],
  since: number,
  sign: 1 | -1,
  description: string,
): InvoiceLine {
  const { current_period_start: start, current_period_end: end } = item;
  const part = Math.min(1, Math.max(0, (end - since) / (end - start)));
  const amount = Math.round(unitAmount(provider, item.price, subscription.currency) * item.quantity * part);
  return newLine(provider, subscription, item, sign * amount, { description, start: Math.max(start, since) });
}
