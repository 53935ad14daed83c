import { listAll } from '../../platform/providers/list-all.ts';
import { type Ask, isMissing } from '../../platform/providers/payment.ts';
import { isEnded, requireSubscriptionState } from '../subscription/provider-objects.ts';

/**
 * Ends one subscription at the provider immediately, whatever its status and whether or not
 * a schedule manages it. Returns the provider's answer about it, also if it had ended before.
 *
 * @throws AppError PROVIDER_UNAVAILABLE, also if the subscription does not exist or does not end.
 */
export async function endNow(ask: Ask, id: string): Promise<object> {
  try {
    return await ask((provider) => provider.subscriptions.cancel(id));
  } catch (error) {
    // The provider no longer finds an ended subscription to cancel.
    if (!isMissing(error)) throw error;
    const answer = await ask((provider) => provider.subscriptions.retrieve(id));
    if (!isEnded(requireSubscriptionState(answer, id))) throw error;
    return answer;
  }
}

/**
 * Ends the live subscriptions of customers and the schedules that would start one later. One
 * failure does not stop the others.
 *
 * @throws the first failure, after everything else was attempted.
 */
export async function endEverything(ask: Ask, customerIds: string[], live: { id: string }[]): Promise<void> {
  const failures: unknown[] = [];
  async function attempt(act: () => Promise<unknown>): Promise<void> {
    await act().catch((error) => failures.push(error));
  }

  for (const customer of customerIds) {
    await attempt(async () => {
      for (const { id } of await scheduledOf(ask, customer)) {
        await attempt(() => ask((provider) => provider.subscriptionSchedules.cancel(id)));
      }
    });
  }
  for (const { id } of live) await attempt(() => endNow(ask, id));
  if (failures.length > 0) throw failures[0];
}

/** Returns the schedules that have not started. A deleted customer has none. */
async function scheduledOf(ask: Ask, customer: string): Promise<{ id: string }[]> {
  try {
    return await listAll(ask, (provider, paging) =>
      provider.subscriptionSchedules.list({ customer, scheduled: true, ...paging }),
    );
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    return [];
  }
}
