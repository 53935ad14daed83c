import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { lockOrganisation } from '../../organisations/organisation.ts';
import { paymentDisputes as dispute, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { type Ask, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import { disputeStatus } from '../../platform/providers/payment/disputes.ts';
import { newestPaidAt } from '../../platform/providers/payment/invoices.ts';
import { leaseOf } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { markedForSync } from '../subscription/newer-state.ts';
import { syncSubscription } from '../sync/sync.ts';

/** What a dispute is about. `invoicedAt` is the provider's second in which the disputed invoice was created. */
type Disputed = { organisationId: string; subscriptionId: string; invoicedAt: number };

/**
 * Stores what the provider now says of a dispute, and syncs its subscription, which decides the plan. The provider is
 * asked, because the events of a dispute may come in any order. A key that may not read disputes changes no plan.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE; Error if the answer cannot be read.
 */
export async function noteDispute(app: App, id: string, disputed: Disputed): Promise<void> {
  const { organisationId, subscriptionId } = disputed;
  await withLease(app, leaseOf(organisationId), async (ask) => {
    const shown = await readDispute(app, ask, id, disputed);
    if (shown === null) return;
    await app.db.transaction(async (tx) => {
      // An organisation that was deleted meanwhile has nothing to dispute.
      if (!(await lockOrganisation(tx, organisationId))) return;
      await tx
        .insert(dispute)
        .values({ id, ...disputed, ...shown })
        .onConflictDoUpdate({ target: dispute.id, set: shown });
      await tx.update(subscription).set(markedForSync).where(eq(subscription.id, subscriptionId));
    });
  });
  await syncSubscription(app, subscriptionId);
}

async function readDispute(app: App, ask: Ask, id: string, { subscriptionId, invoicedAt }: Disputed) {
  try {
    const status = await disputeStatus(ask, id);
    // A dispute takes weeks, so later invoices are often paid before it is lost.
    const isLost = status === 'lost';
    return { status, paidSince: isLost && ((await newestPaidAt(ask, subscriptionId)) ?? 0) > invoicedAt };
  } catch (error) {
    if (providerErrorOf(error)?.status !== 403) throw error;
    app.log.warn('The key may not read disputes, so PAYMENT_DISPUTES has no effect.', { dispute: id });
    return null;
  }
}
