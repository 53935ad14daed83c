import type { App } from '../../app.ts';
import { AppError } from '../../platform/errors.ts';
import { type Ask, providerErrorOf } from '../../platform/providers/payment.ts';
import { isEnded, requireSubscriptionState, type SubscriptionState } from '../subscription/provider-objects.ts';
import { actAndStore } from '../sync/store-answer.ts';
import { endNow } from './end-subscriptions.ts';

/**
 * Returns whether a subscription ends with its paid period (`cancel`), or has no scheduled end
 * (not `cancel`). An end after further periods does not count, because each would be charged.
 */
export function endIsAsWanted(state: SubscriptionState, cancel: boolean): boolean {
  const { cancelFlag, cancelAt, currentPeriodEnd, scheduled, status } = state;
  if (status === 'incomplete') return !cancel;
  if (!cancel) return !scheduled;
  return cancelFlag || (cancelAt !== null && (currentPeriodEnd === null || cancelAt <= currentPeriodEnd));
}

/**
 * Schedules one subscription's end at the end of its paid period, or removes the scheduled
 * end, and stores and returns the provider's answer. A schedule that manages the subscription
 * is released first. A subscription without a paid period ends immediately, after its state
 * was read again: an end cannot be undone, and a payment since the list has bought a period.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; VALIDATION if the plan to resume has ended; Error if an answer cannot be read.
 */
export async function setEnd(
  app: App,
  ask: Ask,
  organisationId: string,
  listed: SubscriptionState,
  cancel: boolean,
): Promise<SubscriptionState> {
  const { id, customerId } = listed;
  const store = (act: () => Promise<object>) => actAndStore(app, { organisationId, customerId }, id, act);
  let before = listed;
  if (cancel && !hasPaidPeriod(app, before)) {
    before = await store(() => retrieve(ask, id));
    if (isEnded(before)) return before;
    if (!hasPaidPeriod(app, before)) return store(() => endNow(ask, id));
  }
  if (before.scheduleId !== null) await releaseSchedule(ask, before.scheduleId, cancel);

  let state = before;
  // Removing one form of a scheduled end may leave the other one.
  for (let attempt = 0; attempt < 2 && !endIsAsWanted(state, cancel); attempt++) {
    const last = state;
    state = await store(() => change(ask, last, cancel));
    if (isEnded(state)) break;
  }
  return state;
}

/**
 * An incomplete subscription was never paid and can only be ended. A paused one gets no
 * further period, so no end can be scheduled after the period of the pause.
 */
function hasPaidPeriod(app: App, { status, currentPeriodEnd, pausedAt }: SubscriptionState): boolean {
  if (status === 'incomplete') return false;
  if (status !== 'paused' || currentPeriodEnd === null) return true;
  return currentPeriodEnd > Math.max(pausedAt ?? 0, app.now().getTime() / 1000);
}

/**
 * Releases a schedule. `keepEnd` keeps the end that the schedule set, so that the subscription
 * still ends if the next request fails. A schedule that was released or ended meanwhile is no
 * error: the change that follows shows whether it can be made.
 */
async function releaseSchedule(ask: Ask, id: string, keepEnd: boolean): Promise<void> {
  try {
    await ask((provider) => provider.subscriptionSchedules.release(id, { preserve_cancel_date: keepEnd }));
  } catch (error) {
    const status = providerErrorOf(error)?.status;
    if (status !== 400 && status !== 404) throw error;
  }
}

async function change(ask: Ask, state: SubscriptionState, cancel: boolean): Promise<object> {
  const { id } = state;
  try {
    const parameters = changeTo(state, cancel);
    return await ask((provider) => provider.subscriptions.update(id, parameters));
  } catch (error) {
    const status = providerErrorOf(error)?.status;
    if (status !== 400 && status !== 404) throw error;

    // The subscription may have ended since it was listed.
    const now = await retrieve(ask, id);
    if (!isEnded(requireSubscriptionState(now, id))) throw error;
    if (!cancel) throw new AppError('VALIDATION', 'The paid plan has already ended.', { cause: error });
    return now;
  }
}

function retrieve(ask: Ask, id: string): Promise<object> {
  return ask((provider) => provider.subscriptions.retrieve(id));
}

/** Returns one of the two forms of a scheduled end: the provider refuses them together. */
function changeTo({ cancelFlag, cancelAt }: SubscriptionState, cancel: boolean) {
  if (cancel) return cancelAt === null ? { cancel_at_period_end: true } : { cancel_at: 'min_period_end' as const };
  return cancelFlag ? { cancel_at_period_end: false } : { cancel_at: '' as const };
}
