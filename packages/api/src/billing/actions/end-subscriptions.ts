import { and, eq, gt, isNull, notInArray, or } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../platform/db/client.ts';
import { paymentCheckouts, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { type Ask, isMissing } from '../../platform/providers/payment/connection.ts';
import { cancelSchedule, endNow, futureSchedulesOf } from '../../platform/providers/payment/subscriptions.ts';
import { leaseOf, readCustomer } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { answerNotStored } from '../subscription/newer-state.ts';
import { liveSubscriptions } from '../sync/sync.ts';
import { closeCheckouts, oldestPayable, paymentUnderWay } from './checkouts.ts';

/**
 * Ends an organisation's subscriptions at the provider immediately, whatever their customer, and
 * expires its open checkouts. Runs before the organisation is deleted, and `mayBeBilled` under its
 * lock. Does not change subscriptions that have ended.
 *
 * @throws AppError PROVIDER_UNAVAILABLE, also if a subscription that our key cannot see may
 *   continue to bill; BUSY; BILLING_UNAVAILABLE if billing is off and a subscription is live or
 *   a checkout may still be paid.
 */
export async function endSubscriptions(app: App, organisationId: string): Promise<void> {
  if (app.payment === null) return requireNoneLive(app, organisationId);

  await withLease(
    app,
    leaseOf(organisationId),
    async (ask) => {
      for (let attempt = 0; attempt < 3; attempt++) {
        // A checkout that was paid meanwhile has created a subscription, so the next attempt reads everything again.
        if (!(await closeCheckouts(app, ask, organisationId))) continue;
        const live = await liveSubscriptions(app, ask, { organisationId });
        const current = await readCustomer(app, organisationId);
        const customers = [...(current === null ? [] : [current.id]), ...live.map(({ customerId }) => customerId)];
        await endEverything(ask, [...new Set(customers)], live);
        // The next attempt stores the ends, so that `mayBeBilled` sees only what is new.
        if (live.length === 0) return;
      }
      throw paymentUnderWay();
    },
    'action',
  );
}

/**
 * Requires that `endSubscriptions` will find every subscription, before another organisation's are ended.
 *
 * @throws AppError as `endSubscriptions`.
 */
export async function requireEndable(app: App, organisationId: string): Promise<void> {
  if (app.payment === null) return requireNoneLive(app, organisationId);
  await withLease(app, leaseOf(organisationId), (ask) => liveSubscriptions(app, ask, { organisationId }), 'action');
}

/**
 * Ends the live subscriptions of customers and the schedules that would start one later. One
 * failure does not stop the others.
 *
 * @throws the first failure, after everything else was attempted.
 */
async function endEverything(ask: Ask, customerIds: string[], live: { id: string }[]): Promise<void> {
  const failures: unknown[] = [];
  async function attempt(act: () => Promise<unknown>): Promise<void> {
    await act().catch((error) => failures.push(error));
  }

  for (const customer of customerIds) {
    await attempt(async () => {
      for (const id of await scheduledOf(ask, customer)) await attempt(() => cancelSchedule(ask, id));
    });
  }
  for (const { id } of live) await attempt(() => endNow(ask, id));
  if (failures.length > 0) throw failures[0];
}

/** Returns the schedules that have not started. A deleted customer has none. */
async function scheduledOf(ask: Ask, customer: string): Promise<string[]> {
  try {
    return await futureSchedulesOf(ask, customer);
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    return [];
  }
}

/**
 * Returns whether an organisation has an open checkout or a subscription that has not ended, although `endSubscriptions`
 * ended all of them before. Without a provider no checkout can be paid.
 */
export async function mayBeBilled(app: App, db: Executor, organisationId: string): Promise<boolean> {
  const open = and(eq(paymentCheckouts.organisationId, organisationId), isNull(paymentCheckouts.closedAt));
  const checkouts = app.payment === null ? 0 : await db.$count(paymentCheckouts, open);
  return checkouts > 0 || hasRunningSubscription(db, organisationId);
}

/** Whether an organisation has a subscription that has not ended. */
export async function hasRunningSubscription(db: Executor, organisationId: string): Promise<boolean> {
  const notEnded = and(
    eq(paymentSubscriptions.organisationId, organisationId),
    eq(paymentSubscriptions.ended, false),
    // The end of a subscription that the provider assigns to another customer is not stored.
    or(isNull(paymentSubscriptions.problem), notInArray(paymentSubscriptions.problem, [...answerNotStored])),
  );
  return (await db.$count(paymentSubscriptions, notEnded)) > 0;
}

async function requireNoneLive(app: App, organisationId: string): Promise<void> {
  const notEnded = and(eq(paymentSubscriptions.organisationId, organisationId), eq(paymentSubscriptions.ended, false));
  const payable = and(
    eq(paymentCheckouts.organisationId, organisationId),
    isNull(paymentCheckouts.closedAt),
    gt(paymentCheckouts.openedAt, oldestPayable(app)),
  );
  const count =
    (await app.db.$count(paymentSubscriptions, notEnded)) + (await app.db.$count(paymentCheckouts, payable));
  if (count > 0) {
    throw new AppError('BILLING_UNAVAILABLE', message('billing_unavailable'));
  }
}
