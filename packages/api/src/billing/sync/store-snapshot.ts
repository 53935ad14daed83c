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
  /** Who holds the organisation's lease; none where the answer was not fetched, as in a test. */
  holder?: string;
};

/**
 * Stores what the provider answered about a subscription and computes its row again.
 * `number` is that of the last event stored before the provider was asked: events
 * stored since then outrank the answer, and keep the row in need of a sync. Where the
 * lease was lost meanwhile, somebody else may have asked later and stored a newer answer:
 * then this one is dropped, and the provider is asked again.
 */
export async function storeSnapshot(app: App, owner: Owner, state: SubscriptionState, number: number): Promise<void> {
  await app.db.transaction(async (tx) => {
    if (!(await lockOrganisation(tx, owner.organisationId))) return;
    const row = await ensureRow(app, tx, owner, state.id);
    if (row === null || !(await requireLease(tx, owner, row.id))) return;
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
        // A key sees its own mode alone.
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

/** Flags a subscription that the provider does not know. It ends nothing, and follows the same rule about the lease. */
export async function markUnknownToProvider(app: App, owner: Owner, id: string): Promise<void> {
  await app.db.transaction(async (tx) => {
    if (!(await lockOrganisation(tx, owner.organisationId)) || !(await requireLease(tx, owner, id))) return;
    await tx
      .update(paymentSubscriptions)
      .set({ problem: 'unknown_to_provider', needsSync: false, syncedAt: app.now() })
      .where(eq(paymentSubscriptions.id, id));
  });
}

/** Says false, and has the subscription synced once more, where the lease is another's by now. */
async function requireLease(tx: Transaction, { organisationId, holder }: Owner, id: string): Promise<boolean> {
  if (holder === undefined || (await isHeld(tx, leaseOf(organisationId), holder))) return true;
  await tx.update(paymentSubscriptions).set({ needsSync: true }).where(eq(paymentSubscriptions.id, id));
  return false;
}

/**
 * The row of a subscription, made where there is none; null where it is another
 * organisation's. The organisation's row must be locked.
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

/** Per subscription the number of the last event stored for it: to be read before the provider is asked. */
export async function lastNumbers(app: App, organisationId: string): Promise<Map<string, number>> {
  const rows = await app.db
    .select({ id: paymentSubscriptions.id, number: paymentSubscriptions.lastEventNumber })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.organisationId, organisationId));
  return new Map(rows.map(({ id, number }) => [id, number]));
}
