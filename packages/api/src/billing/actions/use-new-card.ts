import type { App } from '../../app.ts';
import type { JobData } from '../../platform/jobs/registry.ts';
import { type Ask, isMissing, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import * as customers from '../../platform/providers/payment/customers.ts';
import { payNewestInvoice } from '../../platform/providers/payment/invoices.ts';
import { isEnded, type SubscriptionState, trialEndPause } from '../../platform/providers/payment/subscription-state.ts';
import { readSubscription, resume, useCustomersMethod } from '../../platform/providers/payment/subscriptions.ts';
import { checkCustomer, leaseOf, readCustomer } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { actAndStore } from '../sync/store-answer.ts';
import { syncCustomer } from '../sync/sync.ts';

/**
 * Makes a payment method that a customer saved the one that is charged. The portal makes it the customer's default, and
 * a subscription goes on charging the method it was bought with: the user would have changed the card, and the old one
 * would be declined again. What is open is then paid, and what failed payments or a trial without a card had paused is
 * resumed. Does nothing once the customer has another default: the event about that one has a job of its own. `savedAt`
 * is the provider's second; a subscription that is newer was bought with a method that was chosen later. May be repeated.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE; Error if an answer cannot be read.
 */
export async function useNewCard(
  app: App,
  { organisationId, customerId, methodId, savedAt }: JobData['payment-card'],
): Promise<void> {
  await withLease(app, leaseOf(organisationId), async (ask) => {
    const current = await readCustomer(app, organisationId);
    if (current?.id !== customerId || current.isGone) return;
    try {
      if ((await customers.readCustomer(ask, customerId)).paymentMethodId !== methodId) return;
      for (const state of await syncCustomer(app, ask, { organisationId, customerId })) {
        if (isEnded(state) || (state.createdAt ?? 0) > savedAt) continue;
        await charge(app, ask, organisationId, state, methodId);
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
      // The check flags the customer or marks it as gone.
      await checkCustomer(app, ask, { organisationId, customerId });
    }
  });
}

/** Of an incomplete subscription only the metadata can be changed, and its purchase may be abandoned. */
const payingStatuses = ['past_due', 'unpaid', 'paused'];

/** The pauses that end with the payment. One that was asked for stays until a checkout. */
const failurePauses = ['first_payment_failure', 'final_payment_failure'];

async function charge(
  app: App,
  ask: Ask,
  organisationId: string,
  { id, customerId, status, paymentMethodId }: SubscriptionState,
  methodId: string,
): Promise<void> {
  const store = (act: Parameters<typeof actAndStore>[3]) => actAndStore(app, { organisationId, customerId }, id, act);
  if (status !== 'incomplete' && paymentMethodId !== null && paymentMethodId !== methodId)
    await store(() => useCustomersMethod(ask, id, methodId));
  if (!payingStatuses.includes(status)) return;
  // Also what an earlier card failed to pay when it resumed a trial.
  await payNewestInvoice(ask, id);
  const after = await store(() => readSubscription(ask, id));
  if (after.status !== 'paused') return;
  const isPaid = (after.details?.paidInvoiceAt ?? null) !== null;
  if (after.pauseReason === trialEndPause) await store(() => resumeIfAllowed(ask, id, 'now'));
  else if (failurePauses.includes(after.pauseReason ?? '') && isPaid)
    await store(() => resumeIfAllowed(ask, id, 'unchanged'));
}

/** Where a payment is declined, the subscription stays paused, and a checkout leads to its invoice. */
async function resumeIfAllowed(ask: Ask, id: string, anchor: 'now' | 'unchanged') {
  try {
    return await resume(ask, id, anchor);
  } catch (error) {
    const status = providerErrorOf(error)?.status;
    if (status !== 400 && status !== 402) throw error;
    return readSubscription(ask, id);
  }
}
