import type { App } from '../../app.ts';
import { dateOfSecond } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { type Ask, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import { isEnded, type SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import * as provider from '../../platform/providers/payment/subscriptions.ts';
import { isLostToDispute } from '../entitlement/standing-disputes.ts';
import { actAndStore } from '../sync/store-answer.ts';

/**
 * Returns whether a subscription ends with its paid period (`cancel`), or has no scheduled end and no change of plan
 * ahead (not `cancel`). An end after further periods does not count, because each would be charged.
 */
export async function endIsAsWanted(app: App, state: SubscriptionState, cancel: boolean): Promise<boolean> {
  const { cancelFlag, cancelAt, currentPeriodEnd, scheduled, status } = state;
  if (status === 'incomplete') return !cancel;
  if (!cancel) return !scheduled && !mayChange(state);
  if (isUnpaid(await paymentOf(app, state))) return false;
  return cancelFlag || (cancelAt !== null && (currentPeriodEnd === null || cancelAt <= currentPeriodEnd));
}

/** Whether a schedule changes the plan, or may do so: a key that may not read schedules does not tell. */
export function mayChange({ scheduleId, details }: SubscriptionState): boolean {
  if (details?.nextPhase === undefined) return scheduleId !== null;
  return details.nextPhase !== null;
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
  const store = (act: () => Promise<provider.Answer>) => actAndStore(app, { organisationId, customerId }, id, act);
  let before = listed;
  const isWorthless = async () => !hasPaidPeriod(await paymentOf(app, before), app.now());
  if (cancel && (await isWorthless())) {
    before = await store(() => provider.readSubscription(ask, id));
    if (isEnded(before)) return before;
    if (await isWorthless()) return store(() => provider.endNow(ask, id));
  }
  let state = before;
  if (before.scheduleId !== null) {
    await release(ask, before.scheduleId, cancel);
    if (!cancel) state = await store(() => provider.readSubscription(ask, id));
    if (isEnded(state)) throw new AppError('VALIDATION', message('plan_ended'));
  }

  // Removing one form of a scheduled end may leave the other one.
  for (let attempt = 0; attempt < 2 && !(await endIsAsWanted(app, state, cancel)); attempt++) {
    const last = state;
    state = await store(() => change(ask, last, cancel));
    if (isEnded(state)) break;
  }
  return state;
}

/** What decides whether a subscription has a paid period. */
type PeriodPayment = {
  status: string | null;
  /** Why it gives no plan although its status would. */
  held: 'disputed' | 'lost' | 'uncollectible' | 'void' | null;
  currentPeriodEnd: Date | null;
  /** Null if it is not known; it is not after now. */
  pausedAt: Date | null;
};

async function paymentOf(app: App, { id, status, details, ...state }: SubscriptionState): Promise<PeriodPayment> {
  const trouble = details?.invoiceTrouble ?? null;
  const isLost = trouble === null && (await isLostToDispute(app, id, details?.paidInvoiceAt ?? null));
  return {
    status,
    held: isLost ? 'lost' : trouble,
    currentPeriodEnd: dateOfSecond(state.currentPeriodEnd),
    pausedAt: dateOfSecond(state.pausedAt),
  };
}

/**
 * Returns whether a subscription has a period until whose end cancel lets it go on; otherwise cancel ends it at once. An
 * incomplete one was never paid and can only be ended. The end of a period that nobody paid means nothing. A paused one
 * gets no further period, so no end can be scheduled after the period of the pause.
 */
export function hasPaidPeriod(payment: PeriodPayment, now: Date): boolean {
  const { status, currentPeriodEnd, pausedAt } = payment;
  if (status === 'incomplete' || isUnpaid(payment)) return false;
  if (status !== 'paused' || currentPeriodEnd === null) return true;
  return currentPeriodEnd > now && (pausedAt === null || currentPeriodEnd > pausedAt);
}

function isUnpaid({ status, held }: PeriodPayment): boolean {
  // While a dispute is open, the bank may give the payment back.
  return status === 'unpaid' || (held !== null && held !== 'disputed');
}

/** @throws AppError PROVIDER_UNAVAILABLE, with a sentence of its own where the key may not change schedules. */
async function release(ask: Ask, scheduleId: string, keepEnd: boolean): Promise<void> {
  try {
    await provider.releaseSchedule(ask, scheduleId, keepEnd);
  } catch (error) {
    if (providerErrorOf(error)?.status !== 403) throw error;
    const sentence = message('change_planned_elsewhere');
    throw new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: error });
  }
}

async function change(ask: Ask, state: SubscriptionState, cancel: boolean): Promise<provider.Answer> {
  const { id } = state;
  try {
    return await provider.setEnd(ask, state, cancel);
  } catch (error) {
    const status = providerErrorOf(error)?.status;
    if (status !== 400 && status !== 404) throw error;

    // The subscription may have ended since it was listed.
    const now = await provider.readSubscription(ask, id);
    if (!isEnded(now.state)) throw error;
    if (!cancel) throw new AppError('VALIDATION', message('plan_ended'), { cause: error });
    return now;
  }
}
