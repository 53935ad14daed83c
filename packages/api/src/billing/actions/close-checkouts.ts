import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentSubscriptions } from '../../db/schema/billing.ts';
import { AppError } from '../../errors.ts';
import { type Ask, isMissing } from '../../providers/payment.ts';
import { customersOf, leaseOf } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { ofOurMode } from '../entitlement/read-plan.ts';
import { startedStatuses } from '../projection/consequences.ts';
import { expireAll, openSessions, type Session } from './checkout-session.ts';

/**
 * Expires an organisation's open checkouts if it has a running subscription, because a payment would start a second
 * one. The subscription's own checkout is complete and therefore not open. May be repeated.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY, also if checkouts are just being paid; PROVIDER_UNAVAILABLE.
 */
export async function closeCheckoutsIfPaid(app: App, organisationId: string): Promise<void> {
  await withLease(app, leaseOf(organisationId), async (ask) => {
    if (!(await hasRunning(app, organisationId))) return;
    for (let attempt = 0; attempt < 3; attempt++) if (await expireOpen(app, ask, organisationId)) return;
    throw new AppError('BUSY', 'A payment of this organisation is just being made. Try again in a moment.', {
      retryAfterSeconds: 5,
    });
  });
}

async function hasRunning(app: App, organisationId: string): Promise<boolean> {
  const running = and(
    eq(paymentSubscriptions.organisationId, organisationId),
    inArray(paymentSubscriptions.status, startedStatuses),
    ofOurMode(app, paymentSubscriptions.livemode),
  );
  return (await app.db.$count(paymentSubscriptions, running)) > 0;
}

/**
 * Expires the open checkouts of all customers of an organisation, whose lease the caller holds. Returns false if any
 * cannot be expired because it is complete; the others are expired.
 *
 * @throws AppError PROVIDER_UNAVAILABLE.
 */
export async function expireOpen(app: App, ask: Ask, organisationId: string): Promise<boolean> {
  let expired = true;
  for (const { customerId } of await customersOf(app, organisationId)) {
    if (!(await expireAll(app, ask, await knownSessions(ask, customerId)))) expired = false;
  }
  return expired;
}

/** Returns no sessions for a customer that the provider does not know; the sync decides what that means. */
async function knownSessions(ask: Ask, customerId: string): Promise<Session[]> {
  try {
    return await openSessions(ask, customerId);
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    return [];
  }
}
