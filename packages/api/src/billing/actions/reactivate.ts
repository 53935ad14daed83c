import type { App } from '../../app.ts';
import { billingPage } from '../../platform/links.ts';
import { type Ask, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import { readCustomer } from '../../platform/providers/payment/customers.ts';
import { finaliseInvoice, invoicesOf, openInvoicesOf } from '../../platform/providers/payment/invoices.ts';
import { type SubscriptionState, trialEndPause } from '../../platform/providers/payment/subscription-state.ts';
import * as provider from '../../platform/providers/payment/subscriptions.ts';
import { actAndStore } from '../sync/store-answer.ts';
import type { CheckoutContext } from './checkouts.ts';
import { portalSession } from './open-portal.ts';

/** The resumed subscription, or the page that the user has to visit first. */
export type Resumption = { resumed: SubscriptionState } | { url: string };

/**
 * Resumes a paused subscription if the reason of its pause allows it. After a failed payment the
 * invoice has to be paid first, and after a trial without a card a card is needed. If the reason is
 * unknown, nothing changes and the user is sent to the portal.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; INTERNAL without a canonical base URL; Error if the answer cannot be read.
 */
export async function resumePaused(app: App, context: CheckoutContext, state: SubscriptionState): Promise<Resumption> {
  const { ask } = context;
  const { customerId } = state;
  const anchor = anchors[state.pauseReason ?? ''];
  if (anchor === undefined) return { url: await portalSession(app, ask, customerId) };

  const url = await payableInvoice(ask, state);
  if (url !== null) return { url };
  if (state.pauseReason === trialEndPause && !(await hasCard(ask, state))) {
    return { url: await newCard(app, ask, customerId) };
  }

  const resumed = await resume(app, context, state, anchor);
  if (resumed === null) return { url: (await payableInvoice(ask, state)) ?? (await newCard(app, ask, customerId)) };
  if (resumed.status !== 'paused') return { resumed };
  return { url: (await payableInvoice(ask, resumed)) ?? billingPage(app.config) };
}

/**
 * The billing cycle's anchor by the reason of the pause. A paid period continues: with a new
 * anchor a renewal that was paid late would be paid twice. After a trial nothing was paid,
 * and the first period starts now.
 */
const anchors: Record<string, 'now' | 'unchanged' | undefined> = {
  __proto__: null as never,
  first_payment_failure: 'unchanged',
  final_payment_failure: 'unchanged',
  pause_requested: 'unchanged',
  [trialEndPause]: 'now',
};

/**
 * Returns the portal's page for a new card.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; INTERNAL without a canonical base URL.
 */
export function newCard(app: App, ask: Ask, customerId: string): Promise<string> {
  return portalSession(app, ask, customerId, { page: 'card' });
}

async function hasCard(ask: Ask, { paymentMethodId, customerId }: SubscriptionState): Promise<boolean> {
  return (paymentMethodId ?? (await readCustomer(ask, customerId)).paymentMethodId) !== null;
}

/** Returns the provider's answer, which it also stores; null if the provider refused, for example a declined card. */
async function resume(
  app: App,
  { ask, organisationId }: CheckoutContext,
  { id, customerId }: SubscriptionState,
  anchor: 'now' | 'unchanged',
): Promise<SubscriptionState | null> {
  try {
    return await actAndStore(app, { organisationId, customerId }, id, () => provider.resume(ask, id, anchor));
  } catch (error) {
    const status = providerErrorOf(error)?.status;
    if (status !== 400 && status !== 402) throw error;
    app.log.warn('The payment provider refused to resume a subscription.', { organisationId, subscription: id, error });
    return null;
  }
}

/**
 * Returns the hosted page of the invoice whose payment reactivates a subscription: the newest
 * open one, or the one that was written off. An unpaid subscription is reactivated by its newest
 * invoice alone; if that is a draft, it is finalised without a charge to the stored card. Any
 * other subscription's draft is left alone: the provider charges it. Null if no invoice can be paid.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function payableInvoice(
  ask: Ask,
  { id, status, details }: Pick<SubscriptionState, 'id' | 'status' | 'details'>,
): Promise<string | null> {
  if (status === 'unpaid') return newestInvoice(ask, id);
  if (details?.invoiceTrouble === 'uncollectible') {
    return (await invoicesOf(ask, id)).find((invoice) => invoice.status === 'uncollectible')?.page ?? null;
  }
  return (await openInvoicesOf(ask, id)).find(({ page }) => page !== null)?.page ?? null;
}

/** Skips voided invoices. */
async function newestInvoice(ask: Ask, subscription: string): Promise<string | null> {
  const newest = (await invoicesOf(ask, subscription)).find(({ status }) => status !== 'void');
  if (newest === undefined) return null;

  const { status, page } = newest.status === 'draft' ? await finaliseInvoice(ask, newest.id) : newest;
  return status === 'open' || status === 'uncollectible' ? page : null;
}
