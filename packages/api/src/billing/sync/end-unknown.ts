import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { lockOrganisation } from '../../organisations/lock.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { publishPlan } from '../projection/consequences.ts';

/**
 * Ends the rows of an organisation's subscriptions that the provider does not know, and adds the
 * change to the feed. The caller needs proof of the end, because under a wrong key the provider
 * knows none of them either: the provider's answer that their customer was deleted, or an operator's decision. A later
 * event or sync that shows such a subscription restores its row.
 */
export async function endUnknown(app: App, tx: Transaction, organisationId: string, ids: string[]): Promise<void> {
  if (!(await lockOrganisation(tx, organisationId))) return;
  const ended = { status: 'canceled', ended: true, cancelAtPeriodEnd: false, needsSync: false };
  await tx
    .update(paymentSubscriptions)
    .set({ ...ended, currentPeriodStart: null, currentPeriodEnd: null, endsAt: null, pastDueSince: null })
    .where(and(eq(paymentSubscriptions.organisationId, organisationId), inArray(paymentSubscriptions.id, ids)));
  await publishPlan(app, tx, organisationId);
}
