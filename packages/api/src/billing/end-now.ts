import { listAll } from '../providers/list-all.ts';
import { type Ask, isMissing } from '../providers/payment.ts';
import { isEnded, requireSubscriptionState, type SubscriptionState } from './subscription-state.ts';

/**
 * Ends one subscription at the provider at once, whatever its status is and whether a
 * schedule manages it or not. Answers with what the provider then says of it, also
 * where it had ended already.
 */
export async function endNow(ask: Ask, id: string): Promise<SubscriptionState> {
  try {
    return requireSubscriptionState(await ask((provider) => provider.subscriptions.cancel(id)), id);
  } catch (error) {
    // The provider no longer finds an ended subscription to cancel.
    if (!isMissing(error)) throw error;
    const state = requireSubscriptionState(await ask((provider) => provider.subscriptions.retrieve(id)), id);
    if (!isEnded(state)) throw error;
    return state;
  }
}

/**
 * Ends all that a customer has or will have: its live subscriptions, and the schedules that
 * would start one later. A failure does not keep the others from ending.
 *
 * @throws the first failure, after all others were carried out.
 */
export async function endEverything(ask: Ask, customerId: string, live: { id: string }[]): Promise<void> {
  const planned = await listAll(ask, (provider, place) =>
    provider.subscriptionSchedules.list({ customer: customerId, scheduled: true, ...place }),
  );
  const failures: unknown[] = [];
  for (const { id } of planned) {
    await ask((provider) => provider.subscriptionSchedules.cancel(id)).catch((error) => failures.push(error));
  }
  for (const { id } of live) {
    await endNow(ask, id).catch((error) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
