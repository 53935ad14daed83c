import { and, eq, gt, isNotNull, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../db/client.ts';
import { paymentCheckouts, paymentCustomers, paymentSubscriptions } from '../../db/schema/billing.ts';
import { AppError } from '../../errors.ts';
import { listAll } from '../../providers/list-all.ts';
import { type Ask, complaintOf, isMissing } from '../../providers/payment.ts';
import { customersOf, leaseOf } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { liveSubscriptions } from '../sync/sync.ts';
import { endEverything } from './end-now.ts';

/**
 * Ends an organisation's subscriptions at the provider at once, whichever of its customers
 * they belong to, and closes its open checkouts, before the organisation itself goes.
 * Ended ones stay as they are.
 *
 * @throws AppError PROVIDER_UNAVAILABLE also where something may go on billing that our key
 *   cannot see; BUSY; BILLING_UNAVAILABLE where billing is off and a subscription still runs, or
 *   a checkout may still be paid.
 */
export async function endSubscriptions(app: App, organisationId: string): Promise<void> {
  if (app.payment === null) return requireNothingRuns(app, organisationId);
  if (!app.payment.livemode) await requireNothingLive(app, organisationId);

  await withLease(app, leaseOf(organisationId), async (ask, holder) => {
    for (let attempt = 0; attempt < 3; attempt++) {
      // A checkout that was paid meanwhile has made a subscription: then everything is asked again.
      if (!(await closeCheckouts(app, ask, organisationId))) continue;
      const live = await liveSubscriptions(app, ask, { organisationId, holder });
      const customers = await customersOf(app, organisationId);
      await endEverything(
        ask,
        customers.map(({ customerId }) => customerId),
        live,
      );
      return;
    }
    throw new AppError('BUSY', 'A payment of this organisation is just being made. Try again in a moment.', {
      retryAfterSeconds: 5,
    });
  });
}

/** Whether a checkout of the organisation may still be paid, as far as we made or closed it. */
export async function hasOpenCheckout(db: Executor, organisationId: string): Promise<boolean> {
  const open = and(eq(paymentCheckouts.organisationId, organisationId), isNull(paymentCheckouts.closedAt));
  return (await db.$count(paymentCheckouts, open)) > 0;
}

/** Says false where one of them cannot be closed because it is complete. */
async function closeCheckouts(app: App, ask: Ask, organisationId: string): Promise<boolean> {
  for (const { customerId } of await customersOf(app, organisationId)) {
    for (const { id } of await openSessions(ask, customerId)) {
      try {
        await ask((provider) => provider.checkout.sessions.expire(id));
      } catch (error) {
        if (complaintOf(error)?.status !== 400) throw error;
        return false;
      }
    }
  }
  const open = and(eq(paymentCheckouts.organisationId, organisationId), isNull(paymentCheckouts.closedAt));
  await app.db.update(paymentCheckouts).set({ closedAt: app.now() }).where(open);
  return true;
}

/** None of a customer that the provider does not name; what that means, the sync of its subscriptions decides. */
async function openSessions(ask: Ask, customer: string): Promise<{ id: string }[]> {
  try {
    return await listAll(ask, (provider, place) =>
      provider.checkout.sessions.list({ customer, status: 'open', ...place }),
    );
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    return [];
  }
}

/** The provider expires a checkout that is not paid a day after it was made. */
const checkoutMilliseconds = 86_400_000;

async function requireNothingRuns(app: App, organisationId: string): Promise<void> {
  const running = and(eq(paymentSubscriptions.organisationId, organisationId), eq(paymentSubscriptions.ended, false));
  const payable = and(
    eq(paymentCheckouts.organisationId, organisationId),
    isNull(paymentCheckouts.closedAt),
    gt(paymentCheckouts.openedAt, new Date(app.now().getTime() - checkoutMilliseconds)),
  );
  const count = (await app.db.$count(paymentSubscriptions, running)) + (await app.db.$count(paymentCheckouts, payable));
  if (count > 0) {
    throw new AppError('BILLING_UNAVAILABLE', 'Billing is not available on this deployment.');
  }
}

/** A test key cannot see what bills real money. */
async function requireNothingLive(app: App, organisationId: string): Promise<void> {
  const customers = and(
    eq(paymentCustomers.organisationId, organisationId),
    eq(paymentCustomers.livemode, true),
    isNull(paymentCustomers.goneAt),
    isNotNull(paymentCustomers.customerId),
  );
  const subscriptions = and(
    eq(paymentSubscriptions.organisationId, organisationId),
    eq(paymentSubscriptions.livemode, true),
    eq(paymentSubscriptions.ended, false),
  );
  const live =
    (await app.db.$count(paymentCustomers, customers)) + (await app.db.$count(paymentSubscriptions, subscriptions));
  if (live === 0) return;

  app.log.warn('An organisation cannot be deleted: it has a live customer, and the key is of test mode.', {
    organisationId,
  });
  throw new AppError(
    'PROVIDER_UNAVAILABLE',
    'The plan cannot be ended at the moment. Ask the operator of this service.',
  );
}
