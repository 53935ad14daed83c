import { toAppError } from '@gatehouse/api/platform/errors';
import { type RequestEvent, redirect } from '@sveltejs/kit';
import { hasSubscription, isBought } from '#lib/format/plans/plan-text.ts';
import type { Plan } from '#lib/subscription.ts';

const maxChecks = 10;

export type Confirmation = { state: 'checking'; next: string } | { state: 'unconfirmed' };

/**
 * Asks the provider about the payment after the checkout, before the plan is read: once, not at every check. HEAD
 * requests have no side effects.
 */
export async function confirmAfterCheckout({
  locals,
  url: { searchParams },
  request,
}: Pick<RequestEvent, 'locals' | 'url' | 'request'>): Promise<void> {
  if (request.method === 'HEAD') return;
  if (searchParams.get('checkout') !== 'success' || searchParams.has('look')) return;
  try {
    await locals.api.billing.confirm();
  } catch (error) {
    // The page then waits for the provider's event, as where the provider does not answer.
    if (toAppError(error).code !== 'TOO_MANY') throw error;
  }
}

/**
 * The state of the payment, from the plan. The address grants nothing: a user who types it sees the
 * same few checks and the same end. A subscription that has started but is not paid is checked
 * again, also after it was seen paid: the provider's events arrive in any order.
 */
export function confirmationOf({ url }: Pick<RequestEvent, 'url'>, plan: Plan): Confirmation | null {
  const returned = url.searchParams.get('checkout');
  const paid = isBought(plan);
  if (returned === 'success' && paid) redirect(303, '/billing?checkout=done');
  if (returned !== 'success' && !(returned === 'done' && !paid && hasSubscription(plan))) return null;

  const check = Number(url.searchParams.get('look') ?? 1);
  return check >= 1 && check < maxChecks
    ? { state: 'checking', next: `/billing?checkout=success&look=${check + 1}` }
    : { state: 'unconfirmed' };
}
