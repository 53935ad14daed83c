import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { applyUndelivered } from '../events/apply-undelivered.ts';
import { compareAll } from './compare-all.ts';
import type { Report } from './report.ts';
import { startRound } from './sync-round.ts';

/**
 * Does the work of all billing jobs at once: applies the undelivered events, syncs the rows
 * that need it, and compares all subscriptions. It is safe at any time. A subscription that
 * cannot be synced is reported and its row stays marked for a sync.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
export async function reconcileAll(app: App): Promise<Report> {
  await applyUndelivered(app);

  const due = await app.db
    .select({
      id: paymentSubscriptions.id,
      organisationId: paymentSubscriptions.organisationId,
      customerId: paymentSubscriptions.customerId,
    })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.needsSync, true));
  const round = startRound(app);
  for (const each of due) await round.sync(each);

  return compareAll(app, round);
}
