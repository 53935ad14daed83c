import { eq, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../db/client.ts';
import { paymentSubscriptions } from '../../db/schema/billing.ts';
import { lockOrganisation } from '../../organisations/lock.ts';
import { leaseOf } from '../customers/customer.ts';
import { isHeld } from '../customers/lease.ts';
import { recompute } from '../projection/recompute.ts';
import { isEnded, type SubscriptionState } from '../projection/subscription-state.ts';

type Owner = {
  organisationId: string;
  customerId: string;
  /** The holder of the organisation's lease; absent if no lease protects the answer, as in tests. */
  holder?: string;
};

/**
 * Stores the provider's answer about a subscription and recomputes its row. `number` is the
 * number of the last event that was stored before the request: events since then outrank the
 * answer, and the row keeps needing a sync. If the lease was lost meanwhile, another process
 * may have stored a newer answer: then this answer is dropped and a sync is requested.
 */
export async function storeSnapshot(app: App, owner: Owner, state: SubscriptionState, number: number): Promise<void> {
  await app.db.transaction(async (tx) => {
    if (!(await lockOrganisation(tx, owner.organisationId))) return;
    const row = await ensureRow(app, tx, owner, state.id);
    if (row === null || !(await hasLease(tx, owner, row.id))) return;
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
        // The provider answers about objects of the key's mode only.
        livemode: app.payment?.livemode ?? row.livemode,
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

/** Flags a subscription that the provider does not know. It does not end, and without the lease nothing is stored. */
export async function markUnknownToProvider(app: App, owner: Owner, id: string): Promise<void> {
  await app.db.transaction(async (tx) => {
    if (!(await lockOrganisation(tx, owner.organisationId)) || !(await hasLease(tx, owner, id))) return;
    await tx
      .update(paymentSubscriptions)
      .set({ problem: 'unknown_to_provider', needsSync: false, syncedAt: app.now() })
      .where(eq(paymentSubscriptions.id, id));
  });
}

/** Returns false and requests another sync if another process has the lease. */
async function hasLease(tx: Transaction, { organisationId, holder }: Owner, id: string): Promise<boolean> {
  if (holder === undefined || (await isHeld(tx, leaseOf(organisationId), holder))) return true;
  await tx.update(paymentSubscriptions).set({ needsSync: true }).where(eq(paymentSubscriptions.id, id));
  return false;
}

/**
 * Returns the row of a subscription, and inserts it if there is none. Returns null if the row
 * belongs to another organisation. The caller has locked the organisation's row.
 */
export async function ensureRow(
  app: App,
  tx: Transaction,
  { organisationId, customerId }: Pick<Owner, 'organisationId' | 'customerId'>,
  id: string,
) {
  const livemode = app.payment?.livemode ?? null;
  await tx.insert(paymentSubscriptions).values({ id, organisationId, customerId, livemode }).onConflictDoNothing();
  const [row] = await tx.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return row !== undefined && row.organisationId === organisationId ? row : null;
}

/** Returns the number of the last stored event per subscription. Must be read before the provider is asked. */
export async function lastNumbers(app: App, organisationId: string): Promise<Map<string, number>> {
  const rows = await app.db
    .select({ id: paymentSubscriptions.id, number: paymentSubscriptions.lastEventNumber })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.organisationId, organisationId));
  return new Map(rows.map(({ id, number }) => [id, number]));
}
