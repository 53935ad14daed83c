import { eq, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Transaction } from '../db/client.ts';
import { paymentSubscriptions } from '../db/schema.ts';
import { lockOrganisation } from './lock-organisation.ts';
import { recompute } from './recompute.ts';
import { isEnded, type SubscriptionState } from './subscription-state.ts';

type Whose = { organisationId: string; customerId: string };

/**
 * Stores what the provider answered about a subscription and computes its row again.
 * `number` is that of the last event stored before the provider was asked: events
 * stored since then outrank the answer, and keep the row in need of a sync.
 */
export async function takeSnapshot(app: App, whose: Whose, state: SubscriptionState, number: number): Promise<void> {
  await app.db.transaction(async (tx) => {
    if (!(await lockOrganisation(tx, whose.organisationId))) return;
    const row = await ensureRow(tx, whose, state.id);
    if (row === null) return;
    if (state.customerId !== row.customerId) {
      await tx
        .update(paymentSubscriptions)
        .set({ problem: 'other_customer', needsSync: false, syncedAt: app.now() })
        .where(eq(paymentSubscriptions.id, row.id));
      return;
    }
    if (row.snapshotNumber !== null && row.snapshotNumber > number) return;
    if (row.snapshot !== null && isEnded(JSON.parse(row.snapshot)) && !isEnded(state)) return;

    const wasPastDue = row.snapshot !== null && JSON.parse(row.snapshot).status === 'past_due';
    const pastDue = state.status === 'past_due';
    const [stored] = await tx
      .update(paymentSubscriptions)
      .set({
        snapshot: JSON.stringify(state),
        snapshotNumber: number,
        snapshotPastDueSince: pastDue ? ((wasPastDue ? row.snapshotPastDueSince : null) ?? app.now()) : null,
        ...(pastDue ? {} : { settledNumber: number }),
        needsSync: sql`${paymentSubscriptions.needsSync} and ${paymentSubscriptions.lastEventNumber} > ${number}`,
        syncedAt: app.now(),
        problem: null,
      })
      .where(eq(paymentSubscriptions.id, row.id))
      .returning();
    if (stored !== undefined) await recompute(app, tx, stored);
  });
}

/**
 * The row of a subscription, made where there is none; null where it is another
 * organisation's. The organisation's row must be locked.
 */
export async function ensureRow(tx: Transaction, { organisationId, customerId }: Whose, id: string) {
  await tx.insert(paymentSubscriptions).values({ id, organisationId, customerId }).onConflictDoNothing();
  const [row] = await tx.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return row !== undefined && row.organisationId === organisationId ? row : null;
}

/** Per subscription the number of the last event stored for it: to be read before the provider is asked. */
export async function lastNumbers(app: App, organisationId: string): Promise<Map<string, number>> {
  const rows = await app.db
    .select({ id: paymentSubscriptions.id, number: paymentSubscriptions.lastEventNumber })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.organisationId, organisationId));
  return new Map(rows.map(({ id, number }) => [id, number]));
}
