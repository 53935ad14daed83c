import { announce, change } from '../events/announce.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Subscription } from '../provider/records.ts';
import { closeSchedule } from './schedules/schedule.ts';

/** Ends a subscription and its schedule, and stops the collection of its invoices. */
export function endSubscription(
  provider: Provider,
  subscription: Subscription,
  reason: 'cancellation_requested' | 'payment_failed',
  at = timeOfCustomer(provider, subscription.customer),
): void {
  subscription.status = 'canceled';
  subscription.ended_at = at;
  subscription.canceled_at ??= at;
  subscription.cancellation_details = { ...noDetails(), ...subscription.cancellation_details, reason };
  delete subscription.status_details;
  delete provider.state.pending_lines[subscription.id];
  delete provider.state.resumptions[subscription.id];
  delete provider.state.paused_credits[subscription.id];
  closeSchedule(provider, subscription, at);
  for (const invoice of Object.values(provider.state.invoices)) {
    const own = invoice.parent.subscription_details.subscription === subscription.id;
    if (own && (invoice.status === 'draft' || invoice.status === 'open')) {
      invoice.auto_advance = false;
      invoice.next_payment_attempt = null;
      invoice.automatically_finalizes_at = null;
    }
  }
  // As with the real provider, this event has no previous_attributes.
  announce(provider, 'customer.subscription.deleted', subscription);
}

/** Sets a scheduled end in either form, or clears it with null, and announces the change. */
export function scheduleEnd(
  provider: Provider,
  subscription: Subscription,
  end: { form: 'cancel_at'; at: number } | { form: 'cancel_at_period_end' } | null,
): Subscription {
  return change(provider, 'customer.subscription.updated', subscription, () => applyEnd(provider, subscription, end));
}

/** Sets or clears a scheduled end without an event, for changes that are announced together. */
export function applyEnd(
  provider: Provider,
  subscription: Subscription,
  end: { form: 'cancel_at'; at: number } | { form: 'cancel_at_period_end' } | null,
): void {
  subscription.cancel_at_period_end = end?.form === 'cancel_at_period_end';
  subscription.cancel_at = end === null ? null : end.form === 'cancel_at' ? end.at : periodEnd(subscription);
  subscription.canceled_at = end === null ? null : timeOfCustomer(provider, subscription.customer);
  subscription.cancellation_details = {
    ...noDetails(),
    ...(end && subscription.cancellation_details),
    reason: end === null ? null : 'cancellation_requested',
  };
}

/** Returns the earliest period end of the subscription's items. */
export function periodEnd(subscription: Subscription): number {
  return Math.min(...subscription.items.data.map((item) => item.current_period_end));
}

/** Whether a subscription has ended and cannot be revived. */
export function isFinal(subscription: Subscription): boolean {
  return subscription.status === 'canceled' || subscription.status === 'incomplete_expired';
}

/** Returns the details of a subscription that has not been cancelled. */
export function noDetails(): NonNullable<Subscription['cancellation_details']> {
  return { comment: null, feedback: null, feedback_option: null, reason: null };
}
