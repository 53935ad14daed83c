import { change } from '../../events/announce.ts';
import type { Provider } from '../../provider/provider.ts';
import type { Subscription, SubscriptionSchedule } from '../../provider/records.ts';
import { refused } from '../../routing/api-error.ts';
import { isFinal } from '../end-subscription.ts';
import { currentPhase, newSchedule, readPhases } from './new-schedule.ts';
import { announceSchedule, attachSchedule } from './schedule.ts';

/**
 * Changes the price of a subscription at the end of its period, by a schedule of two phases: the
 * current one, and one period with the new price, after which the subscription is released. As
 * with the portal and the dashboard of the real provider, the schedule is made first and gets its
 * second phase by an update, which the subscription does not announce.
 *
 * @throws ApiError if the subscription has ended, has several items, is managed by a schedule, or if
 *   the price does not exist.
 */
export function scheduleChange(
  provider: Provider,
  subscription: Subscription,
  price: string,
  quantity = 1,
): SubscriptionSchedule {
  if (isFinal(subscription) || subscription.schedule !== null || subscription.items.data.length !== 1) {
    throw refused('You cannot schedule a change of a subscription that has ended, several items or a schedule.');
  }
  const current = currentPhase(provider, subscription);
  const [next] = readPhases(provider, [{ items: [{ price, quantity }] }], current.end_date);
  const schedule = newSchedule(provider, subscription.customer, [current], {});
  schedule.current_phase = { start_date: current.start_date, end_date: current.end_date };
  provider.state.subscription_schedules[schedule.id] = schedule;
  attachSchedule(provider, schedule, subscription);
  announceSchedule(provider, schedule);
  return change(provider, 'subscription_schedule.updated', schedule, () => {
    if (next) schedule.phases.push({ ...next, proration_behavior: 'none' });
  });
}
