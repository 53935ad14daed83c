import { change } from '../../events/announce.ts';
import type { Provider } from '../../provider/provider.ts';
import type { SubscriptionSchedule } from '../../provider/records.ts';
import type { Step } from '../../provider/step.ts';
import { endSubscription } from '../end-subscription.ts';
import { startSubscription } from '../start-subscription.ts';
import { updateItems } from '../update-items.ts';
import { attachSchedule, isOpen, releaseSchedule } from './schedule.ts';

/** Yields the next step of a schedule: its start, or the end of its current phase. */
export function* stepsOfSchedule(provider: Provider, schedule: SubscriptionSchedule): Generator<Step> {
  if (!isOpen(schedule)) return;
  const [first] = schedule.phases;
  if (schedule.status === 'not_started' && first) {
    yield { at: first.start_date, about: 'a schedule begins', run: () => beginSchedule(provider, schedule) };
  }
  const current = schedule.current_phase;
  if (schedule.status === 'active' && current) {
    yield {
      at: current.end_date,
      about: 'a phase of a schedule ends',
      run: () => endPhase(provider, schedule, current.end_date),
    };
  }
}

/** Starts the subscription of a schedule with its first phase. */
export function beginSchedule(provider: Provider, schedule: SubscriptionSchedule): void {
  const [first] = schedule.phases;
  if (!first || !provider.state.customers[schedule.customer]) return;
  const subscription = startSubscription(provider, {
    customer: schedule.customer,
    items: first.items.flatMap(({ price: id, quantity }) => {
      const price = provider.state.prices[id];
      return price ? [{ price, quantity }] : [];
    }),
    metadata: schedule.metadata ?? {},
  });
  change(provider, 'subscription_schedule.updated', schedule, () => {
    schedule.current_phase = { start_date: first.start_date, end_date: first.end_date };
    attachSchedule(provider, schedule, subscription);
  });
}

function endPhase(provider: Provider, schedule: SubscriptionSchedule, at: number): void {
  const subscription = provider.state.subscriptions[schedule.subscription ?? ''];
  const next = schedule.phases.find(({ start_date: start }) => start >= at);
  if (!subscription || !next) {
    const cancels = subscription && schedule.end_behavior === 'cancel';
    if (cancels) endSubscription(provider, subscription, 'cancellation_requested', at);
    else releaseSchedule(provider, schedule);
    return;
  }

  const [item] = subscription.items.data;
  const [wanted] = next.items;
  if (item && wanted) {
    // At the end of the period no time is left to prorate.
    const proration = item.current_period_end <= at ? 'none' : next.proration_behavior;
    const changes = [{ id: item.id, price: wanted.price, quantity: wanted.quantity }];
    updateItems(provider, subscription, { changes, proration });
  }
  change(provider, 'subscription_schedule.updated', schedule, () => {
    schedule.current_phase = { start_date: next.start_date, end_date: next.end_date };
  });
}
