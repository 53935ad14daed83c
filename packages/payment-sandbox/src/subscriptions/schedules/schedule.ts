import { announce, change } from '../../events/announce.ts';
import { timeOf } from '../../provider/clock.ts';
import type { Provider } from '../../provider/provider.ts';
import type { Subscription, SubscriptionSchedule } from '../../provider/records.ts';

/** Whether a schedule has not ended. */
export function isOpen({ status }: SubscriptionSchedule): boolean {
  return status === 'not_started' || status === 'active';
}

/** Releases the subscription of a schedule. Unless `keepEnd`, the end that the schedule set is removed. */
export function releaseSchedule(provider: Provider, schedule: SubscriptionSchedule, keepEnd = false): void {
  const subscription = provider.state.subscriptions[schedule.subscription ?? ''];
  change(provider, 'subscription_schedule.released', schedule, () => {
    schedule.status = 'released';
    schedule.released_at = timeOf(provider, schedule.test_clock);
    schedule.released_subscription = schedule.subscription;
    schedule.subscription = null;
    schedule.current_phase = null;
  });
  if (subscription) detach(provider, subscription, keepEnd || schedule.end_behavior !== 'cancel');
}

function detach(provider: Provider, subscription: Subscription, keepEnd: boolean): void {
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.schedule = null;
    if (keepEnd) return;
    subscription.cancel_at = null;
    subscription.canceled_at = null;
  });
}

/** Ends the schedule of a subscription that has ended. */
export function closeSchedule(provider: Provider, subscription: Subscription, at: number): void {
  const schedule = provider.state.subscription_schedules[subscription.schedule ?? ''];
  if (!schedule || !isOpen(schedule)) return;
  const planned = schedule.end_behavior === 'cancel' && (schedule.phases.at(-1)?.end_date ?? at + 1) <= at;
  const type = planned ? 'subscription_schedule.completed' : 'subscription_schedule.canceled';
  change(provider, type, schedule, () => {
    schedule.status = planned ? 'completed' : 'canceled';
    if (planned) schedule.completed_at = at;
    else schedule.canceled_at = at;
    schedule.current_phase = null;
  });
}

/** Cancels a schedule that has not started, so that it never creates a subscription. */
export function cancelSchedule(provider: Provider, schedule: SubscriptionSchedule): void {
  change(provider, 'subscription_schedule.canceled', schedule, () => {
    schedule.status = 'canceled';
    schedule.canceled_at = timeOf(provider, schedule.test_clock);
  });
}

/** Attaches a schedule to the subscription that it manages from now on. */
export function attachSchedule(provider: Provider, schedule: SubscriptionSchedule, subscription: Subscription): void {
  schedule.subscription = subscription.id;
  schedule.status = 'active';
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.schedule = schedule.id;
    takeEnd(subscription, schedule, timeOf(provider, schedule.test_clock));
  });
}

/** Sets the end of the last phase as the end of the subscription, if the schedule cancels it. */
export function takeEnd(subscription: Subscription, schedule: SubscriptionSchedule, at: number): void {
  const end = schedule.end_behavior === 'cancel' ? (schedule.phases.at(-1)?.end_date ?? null) : null;
  if (end !== null) subscription.canceled_at ??= at;
  else if (subscription.cancel_at !== null) subscription.canceled_at = null;
  subscription.cancel_at = end;
  subscription.cancel_at_period_end = false;
}

/** Announces a new schedule. */
export function announceSchedule(provider: Provider, schedule: SubscriptionSchedule): void {
  announce(provider, 'subscription_schedule.created', schedule);
}
