import { type Ask, answeredAt, isMissing, providerErrorOf } from './connection.ts';
import { listAll, pagesOf } from './list-all.ts';
import { askExpanded, decisive, readDetails, shownTrouble } from './subscription-details.ts';
import { type InvoiceTrouble, isEnded, readSubscriptionState, type SubscriptionState } from './subscription-state.ts';

/** What the provider answered about a subscription, and in which second of its clock (null if it does not say). */
export type Answer = { state: SubscriptionState; at: number | null };

/** @throws Error if the answer cannot be read. */
async function answerOf(ask: Ask, object: object, id: string): Promise<Answer> {
  const state = readSubscriptionState(object);
  if (state === null) throw new Error(`The payment provider's answer about ${id} cannot be read.`);
  return { state: { ...state, details: await readDetails(ask, object) }, at: answeredAt(object) };
}

/** Returns a subscription. @throws AppError PROVIDER_UNAVAILABLE, also if it is unknown; Error if it cannot be read. */
export async function readSubscription(ask: Ask, id: string): Promise<Answer> {
  const answer = await askExpanded((expand) => ask((provider) => provider.subscriptions.retrieve(id, { expand })));
  return answerOf(ask, answer, id);
}

/** Returns all subscriptions of a customer, ended ones too. @throws AppError PROVIDER_UNAVAILABLE. */
export async function subscriptionsOf(ask: Ask, customerId: string): Promise<Answer[]> {
  return askExpanded(async (paths) => {
    const expand = paths.map((path) => `data.${path}`);
    const wanted = { customer: customerId, status: 'all', expand } as const;
    const answers: Answer[] = [];
    for await (const page of pagesOf(ask, (provider, cursor) => provider.subscriptions.list({ ...wanted, ...cursor })))
      for (const object of page.data) {
        const state = readSubscriptionState(object);
        if (state === null) continue;
        answers.push({ state: { ...state, details: await readDetails(ask, object) }, at: answeredAt(page) });
      }
    return answers;
  });
}

/** A subscription of the list, with the trouble that its newest invoice shows; undefined if that one does not decide. */
export type ListedState = SubscriptionState & { shownTrouble: InvoiceTrouble | null | undefined };

/**
 * Yields all subscriptions of the account that have not ended, a hundred at a time, with the problem and the trouble of
 * their newest invoice.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function* allSubscriptions(ask: Ask): AsyncGenerator<ListedState[]> {
  const expand = decisive.map((path) => `data.${path}`);
  for await (const { data } of pagesOf(ask, (provider, cursor) => provider.subscriptions.list({ expand, ...cursor })))
    yield data.flatMap((object) => {
      const state = readSubscriptionState(object);
      return state === null ? [] : [{ ...state, shownTrouble: shownTrouble(object) }];
    });
}

/**
 * Schedules a subscription's end at the end of its period, or removes one form of its scheduled end: the provider
 * refuses both forms together, so removing both takes two calls.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; Error if the answer cannot be read.
 */
export async function setEnd(ask: Ask, state: SubscriptionState, cancel: boolean): Promise<Answer> {
  const parameters = { ...endParameters(state, cancel), expand: decisive };
  return answerOf(ask, await ask((provider) => provider.subscriptions.update(state.id, parameters)), state.id);
}

function endParameters({ cancelFlag, cancelAt }: SubscriptionState, cancel: boolean) {
  if (cancel) return cancelAt === null ? { cancel_at_period_end: true } : { cancel_at: 'min_period_end' as const };
  return cancelFlag ? { cancel_at_period_end: false } : { cancel_at: '' as const };
}

/**
 * Lets the customer's default payment method be charged for a subscription that has one of its own: its own is cleared,
 * or, where the provider does not allow that (its types do not), replaced by `methodId`.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; Error if the answer cannot be read.
 */
export async function useCustomersMethod(ask: Ask, id: string, methodId: string): Promise<Answer> {
  const set = (method: string) =>
    ask((provider) => provider.subscriptions.update(id, { default_payment_method: method, expand: decisive }));
  const answer = await set('').catch((error: unknown) => {
    if (providerErrorOf(error)?.status !== 400) throw error;
    return set(methodId);
  });
  return answerOf(ask, answer, id);
}

/**
 * Ends a subscription immediately, whatever its status and whether or not a schedule manages it. Returns the
 * provider's answer about it, also if it had ended before.
 *
 * @throws AppError PROVIDER_UNAVAILABLE, also if the subscription does not exist or does not end; Error if the answer
 *   cannot be read.
 */
export async function endNow(ask: Ask, id: string): Promise<Answer> {
  try {
    return await answerOf(ask, await ask((provider) => provider.subscriptions.cancel(id, { expand: decisive })), id);
  } catch (error) {
    // The provider no longer finds an ended subscription to cancel.
    if (!isMissing(error)) throw error;
    const answer = await readSubscription(ask, id);
    if (!isEnded(answer.state)) throw error;
    return answer;
  }
}

/**
 * Resumes a paused subscription once its invoice is paid. `anchor` says whether a new period begins now.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; Error if the answer cannot be read.
 */
export async function resume(ask: Ask, id: string, anchor: 'now' | 'unchanged'): Promise<Answer> {
  const resumption = {
    payment_behavior: 'resume_on_payment_success',
    billing_cycle_anchor: { type: anchor },
    expand: decisive,
  } as const;
  return answerOf(ask, await ask((provider) => provider.subscriptions.resume(id, resumption)), id);
}

/**
 * Releases a schedule, so that its subscription can be changed. `keepEnd` keeps the end that it set, so that the
 * subscription still ends if the next request fails. A schedule that was released or ended meanwhile is no error.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function releaseSchedule(ask: Ask, id: string, keepEnd: boolean): Promise<void> {
  try {
    await ask((provider) => provider.subscriptionSchedules.release(id, { preserve_cancel_date: keepEnd }));
  } catch (error) {
    const status = providerErrorOf(error)?.status;
    if (status !== 400 && status !== 404) throw error;
  }
}

/** Returns the ids of a customer's schedules that have not started. @throws AppError PROVIDER_UNAVAILABLE. */
export async function futureSchedulesOf(ask: Ask, customerId: string): Promise<string[]> {
  const schedules = await listAll(ask, (provider, paging) =>
    provider.subscriptionSchedules.list({ customer: customerId, scheduled: true, ...paging }),
  );
  return schedules.map(({ id }) => id);
}

/** Cancels a schedule that has not started. @throws AppError PROVIDER_UNAVAILABLE. */
export async function cancelSchedule(ask: Ask, id: string): Promise<void> {
  await ask((provider) => provider.subscriptionSchedules.cancel(id));
}
