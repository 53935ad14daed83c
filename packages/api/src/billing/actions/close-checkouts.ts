import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentCheckouts, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { type Ask, isMissing } from '../../platform/providers/payment.ts';
import { leaseOf, readCustomer } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { startedStatuses } from '../subscription/write-row.ts';
import { type CheckoutSession, expireCheckouts, listOpenCheckouts, paymentUnderWay } from './checkout-session.ts';

/**
 * Expires an organisation's open checkouts if it has a started subscription, because a payment would start a second
 * one. The subscription's own checkout is complete and therefore not open. May be repeated.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY, also while a checkout is being paid; PROVIDER_UNAVAILABLE.
 */
export async function closeCheckoutsIfPaid(app: App, organisationId: string): Promise<void> {
  await withLease(app, leaseOf(organisationId), async (ask) => {
    if (!(await hasStartedSubscription(app, organisationId))) return;
    for (let attempt = 0; attempt < 3; attempt++) if (await closeCheckouts(app, ask, organisationId)) return;
    throw paymentUnderWay();
  });
}

/** Returns since when a checkout must have been opened to be payable: the provider expires it after a day. */
export function oldestPayable(app: App): Date {
  return new Date(app.now().getTime() - dayMilliseconds);
}

async function hasStartedSubscription(app: App, organisationId: string): Promise<boolean> {
  const started = and(eq(paymentSubscriptions.organisationId, organisationId), isStarted);
  return (await app.db.$count(paymentSubscriptions, started)) > 0;
}

const isStarted = inArray(paymentSubscriptions.status, startedStatuses);

/**
 * Expires the open checkouts of an organisation, whose lease the caller holds, and closes their rows, also those whose
 * end no event has reported. Returns false if any cannot be expired because it is complete; the others are expired.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function closeCheckouts(app: App, ask: Ask, organisationId: string): Promise<boolean> {
  const customer = await readCustomer(app, organisationId);
  if (customer !== null && !(await expireCheckouts(app, ask, await listKnownCheckouts(ask, customer.id)))) return false;

  const open = and(eq(paymentCheckouts.organisationId, organisationId), isNull(paymentCheckouts.closedAt));
  await app.db.update(paymentCheckouts).set({ closedAt: app.now() }).where(open);
  return true;
}

/** Returns no sessions for a customer that the provider does not know; the sync decides what that means. */
async function listKnownCheckouts(ask: Ask, customerId: string): Promise<CheckoutSession[]> {
  try {
    return await listOpenCheckouts(ask, customerId);
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    return [];
  }
}
