import type { App } from '../../app.ts';
import { AppError } from '../../errors.ts';
import { type Ask, complaintOf } from '../../providers/payment.ts';
import { isEnded, requireSubscriptionState, type SubscriptionState } from '../projection/subscription-state.ts';
import { lastNumbers, storeSnapshot } from '../sync/store-snapshot.ts';
import { endNow } from './end-now.ts';

type Owner = { organisationId: string; holder: string };

/**
 * Whether a subscription ends with its paid period (`wanted`), or has no scheduled end. An
 * end after further periods does not count as wanted, because each of them would be charged.
 */
export function endIsAsWanted(state: SubscriptionState, wanted: boolean): boolean {
  const { cancelFlag, cancelAt, currentPeriodEnd, scheduled, status } = state;
  if (status === 'incomplete') return !wanted;
  if (!wanted) return !scheduled;
  return cancelFlag || (cancelAt !== null && (currentPeriodEnd === null || cancelAt <= currentPeriodEnd));
}

/**
 * Schedules one subscription's end at the end of its paid period, or takes that back,
 * stores what the provider answered, and answers with it. A schedule that manages it is
 * released first. What has no paid period left ends at once, after the provider was asked
 * again: an end cannot be taken back, and a payment since the list has bought a period.
 *
 * @throws what the provider refused; AppError VALIDATION where the plan to resume has ended.
 */
export async function setEnd(
  app: App,
  ask: Ask,
  owner: Owner,
  listed: SubscriptionState,
  wanted: boolean,
): Promise<SubscriptionState> {
  let before = listed;
  if (wanted && !hasPaidPeriod(app, before)) {
    before = await stored(app, owner, before, () => retrieve(ask, listed.id));
    if (isEnded(before)) return before;
    if (!hasPaidPeriod(app, before)) return stored(app, owner, before, () => endNow(ask, listed.id));
  }
  if (before.scheduleId !== null) await releaseSchedule(ask, before.scheduleId, wanted);

  let state = before;
  // Taking back one form of a scheduled end may leave the other one.
  for (let attempt = 0; attempt < 2 && !endIsAsWanted(state, wanted); attempt++) {
    const last = state;
    state = await stored(app, owner, last, () => change(ask, last, wanted));
    if (isEnded(state)) break;
  }
  return state;
}

/**
 * An incomplete subscription was never paid, and can only be ended. A paused one does not
 * get to another period: once the period of the pause is over there is no later end.
 */
function hasPaidPeriod(app: App, { status, currentPeriodEnd, pausedAt }: SubscriptionState): boolean {
  if (status === 'incomplete') return false;
  if (status !== 'paused' || currentPeriodEnd === null) return true;
  return currentPeriodEnd > Math.max(pausedAt ?? 0, app.now().getTime() / 1000);
}

/**
 * Releases a schedule, and keeps the end that it gave its subscription where an end is
 * wanted: should the next request fail, the subscription still ends at some time. A
 * schedule that was released or ended meanwhile manages nothing; the change itself then
 * shows whether it can be made.
 */
async function releaseSchedule(ask: Ask, id: string, keepEnd: boolean): Promise<void> {
  try {
    await ask((provider) => provider.subscriptionSchedules.release(id, { preserve_cancel_date: keepEnd }));
  } catch (error) {
    const status = complaintOf(error)?.status;
    if (status !== 400 && status !== 404) throw error;
  }
}

async function change(ask: Ask, state: SubscriptionState, wanted: boolean): Promise<SubscriptionState> {
  const { id } = state;
  try {
    const parameters = changeTo(state, wanted);
    return requireSubscriptionState(await ask((provider) => provider.subscriptions.update(id, parameters)), id);
  } catch (error) {
    const status = complaintOf(error)?.status;
    if (status !== 400 && status !== 404) throw error;

    // It may have ended since it was listed.
    const now = await retrieve(ask, id);
    if (!isEnded(now)) throw error;
    if (!wanted) throw new AppError('VALIDATION', 'The paid plan has already ended.', { cause: error });
    return now;
  }
}

async function retrieve(ask: Ask, id: string): Promise<SubscriptionState> {
  return requireSubscriptionState(await ask((provider) => provider.subscriptions.retrieve(id)), id);
}

/** One of the two forms, never both: the provider refuses them together. */
function changeTo({ cancelFlag, cancelAt }: SubscriptionState, wanted: boolean) {
  if (wanted) return cancelAt === null ? { cancel_at_period_end: true } : { cancel_at: 'min_period_end' as const };
  return cancelFlag ? { cancel_at_period_end: false } : { cancel_at: '' as const };
}

/** The number of the last event is read before the provider is asked: later events outrank its answer. */
async function stored(
  app: App,
  owner: Owner,
  { id, customerId }: SubscriptionState,
  act: () => Promise<SubscriptionState>,
): Promise<SubscriptionState> {
  const number = (await lastNumbers(app, owner.organisationId)).get(id) ?? 0;
  const state = await act();
  await storeSnapshot(app, { ...owner, customerId }, state, number);
  return state;
}
