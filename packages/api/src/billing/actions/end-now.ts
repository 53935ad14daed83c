import { listAll } from '../../providers/list-all.ts';
import { type Ask, isMissing } from '../../providers/payment.ts';
import { isEnded, requireSubscriptionState, type SubscriptionState } from '../projection/subscription-state.ts';

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
 * Ends all that customers have or will have: the live subscriptions, and the schedules that
 * would start one later. A failure does not keep the others from ending.
 *
 * @throws the first failure, after all others were carried out.
 */
export async function endEverything(ask: Ask, customerIds: string[], live: { id: string }[]): Promise<void> {
  const failures: unknown[] = [];
  async function attempt(act: () => Promise<unknown>): Promise<void> {
    await act().catch((error) => failures.push(error));
  }

  for (const customer of customerIds) {
    await attempt(async () => {
      for (const { id } of await plannedOf(ask, customer)) {
        await attempt(() => ask((provider) => provider.subscriptionSchedules.cancel(id)));
      }
    });
  }
  for (const { id } of live) await attempt(() => endNow(ask, id));
  if (failures.length > 0) throw failures[0];
}

/** The schedules that have not begun. A deleted customer has none. */
async function plannedOf(ask: Ask, customer: string): Promise<{ id: string }[]> {
  try {
    return await listAll(ask, (provider, place) =>
      provider.subscriptionSchedules.list({ customer, scheduled: true, ...place }),
    );
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    return [];
  }
}
