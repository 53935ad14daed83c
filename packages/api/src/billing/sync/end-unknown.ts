import { inArray } from 'drizzle-orm';
import type { Executor } from '../../db/client.ts';
import { paymentSubscriptions } from '../../db/schema/billing.ts';

/**
 * Ends the rows of subscriptions that the provider does not know, where something else
 * than its ignorance says that they are over: its word that their customer was deleted,
 * or an operator's decision. An event or a fetch that shows one of them revives its row.
 */
export async function endUnknown(db: Executor, ids: string[]): Promise<void> {
  const over = { status: 'canceled', ended: true, cancelAtPeriodEnd: false, needsSync: false };
  await db
    .update(paymentSubscriptions)
    .set({ ...over, currentPeriodEnd: null, endsAt: null, pastDueSince: null })
    .where(inArray(paymentSubscriptions.id, ids));
}
