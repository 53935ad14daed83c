import { inArray } from 'drizzle-orm';
import type { Executor } from '../../db/client.ts';
import { paymentSubscriptions } from '../../db/schema/billing.ts';

/**
 * Ends the rows of subscriptions that the provider does not know. The caller needs proof of
 * the end, because a wrong key knows none of them either: the provider's answer that their
 * customer was deleted, or an operator's decision. A later event or sync that shows such a
 * subscription restores its row.
 */
export async function endUnknown(db: Executor, ids: string[]): Promise<void> {
  const ended = { status: 'canceled', ended: true, cancelAtPeriodEnd: false, needsSync: false };
  await db
    .update(paymentSubscriptions)
    .set({ ...ended, currentPeriodEnd: null, endsAt: null, pastDueSince: null })
    .where(inArray(paymentSubscriptions.id, ids));
}
