import { eq, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { lockOrganisation } from '../../organisations/lock.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { leaseOf } from '../customers/customer.ts';
import { isHeld } from '../customers/lease.ts';
import { storeConsequences } from '../projection/consequences.ts';
import { beginsWithEarlierFailure, firstAnswerOfRun, lastBreak } from '../projection/past-due-run.ts';
import { readableEvents, recompute } from '../projection/projection.ts';
import { isEnded, parseSnapshot, type SubscriptionState } from '../projection/provider-objects.ts';
import { readProjectionInput } from '../projection/subscription-row.ts';

export type SubscriptionOwner = { organisationId: string; customerId: string };

type LeasedOwner = SubscriptionOwner & {
  /** The holder of the organisation's lease; absent if no lease protects the answer, as in tests. */
  holder?: string;
};

/**
 * Stores the provider's answer about a subscription and recomputes its row. `number` is the
 * number of the last event that was stored before the request: events since then outrank the
 * answer, and the row keeps needing a sync. If the lease was lost meanwhile, another process
 * may have stored a newer answer: then this answer is dropped and a sync is requested.
 */
export async function storeSnapshot(
  app: App,
  owner: LeasedOwner,
  state: SubscriptionState,
  number: number,
): Promise<void> {
  const pastDue = state.status === 'past_due';
  const settled = pastDue ? {} : { settledNumber: number };
  await app.db.transaction(async (tx) => {
    if (!(await lockOrganisation(tx, owner.organisationId))) return;
    const known = await readProjectionInput(tx, state.id, settled);
    const inserted = known.row === null ? await insertRow(tx, owner, state.id) : null;
    // If this process inserted no row, another one has inserted it in the meantime.
    const input = known.row === null && inserted === null ? await readProjectionInput(tx, state.id, settled) : known;
    const row = input.row ?? inserted;
    if (row === null || row.organisationId !== owner.organisationId || !(await hasLease(tx, owner, row.id))) return;
    if (state.customerId !== row.customerId) {
      await tx
        .update(paymentSubscriptions)
        .set({ problem: 'other_customer', needsSync: isOutdated(number), syncedAt: app.now() })
        .where(eq(paymentSubscriptions.id, row.id));
      return;
    }
    if (row.snapshotNumber !== null && row.snapshotNumber > number) return;
    const last = row.snapshot === null ? null : parseSnapshot(row.snapshot);
    if (last !== null && isEnded(last) && !isEnded(state)) return;

    const events = readableEvents(input.events);
    const first = pastDue
      ? firstAnswerOfRun(
          {
            pastDueSince: row.snapshotPastDueSince,
            pastDueNumber: row.snapshotPastDueNumber,
            invoiceId: row.snapshotPastDueInvoice,
          },
          { pastDueSince: app.now(), pastDueNumber: number, invoiceId: state.latestInvoiceId },
          lastBreak(events),
        )
      : null;
    const answered = last && { state: last, number: row.snapshotNumber ?? 0 };
    const isLate = beginsWithEarlierFailure(events, row.settledNumber, answered, { state, number });
    const snapshot = {
      snapshot: JSON.stringify(state),
      snapshotNumber: number,
      snapshotPastDueSince: first?.pastDueSince ?? null,
      snapshotPastDueNumber: first?.pastDueNumber ?? null,
      snapshotPastDueInvoice: first?.invoiceId ?? null,
      ...(isLate ? { settledNumber: number } : settled),
    };
    const recomputed = recompute(app, { ...input, row: { ...row, ...snapshot } });
    await tx
      .update(paymentSubscriptions)
      .set({
        ...snapshot,
        ...recomputed?.columns,
        needsSync: recomputed?.certain === false || isOutdated(number),
        syncedAt: app.now(),
        problem: null,
      })
      .where(eq(paymentSubscriptions.id, row.id));
    if (recomputed !== null) await storeConsequences(app, tx, row.organisationId, row, recomputed);
  });
}

/** Whether the row stays marked: an event that came after the request outranks the answer. */
function isOutdated(number: number) {
  return sql`${paymentSubscriptions.needsSync} and ${paymentSubscriptions.lastEventNumber} > ${number}`;
}

/**
 * Flags a subscription that the provider does not know. It does not end, and without the lease nothing is stored.
 * `number` is that of the last event that was stored before the request.
 */
export async function markUnknownToProvider(app: App, owner: LeasedOwner, id: string, number: number): Promise<void> {
  await app.db.transaction(async (tx) => {
    if (!(await lockOrganisation(tx, owner.organisationId)) || !(await hasLease(tx, owner, id))) return;
    await tx
      .update(paymentSubscriptions)
      .set({ problem: 'unknown_to_provider', needsSync: isOutdated(number), syncedAt: app.now() })
      .where(eq(paymentSubscriptions.id, id));
  });
}

/** Returns false and requests another sync if another process has the lease. */
async function hasLease(tx: Transaction, { organisationId, holder }: LeasedOwner, id: string): Promise<boolean> {
  if (holder === undefined || (await isHeld(tx, leaseOf(organisationId), holder))) return true;
  await tx.update(paymentSubscriptions).set({ needsSync: true }).where(eq(paymentSubscriptions.id, id));
  return false;
}

/** Inserts the row of a subscription. Returns null if another process has just inserted it. */
async function insertRow(tx: Transaction, { organisationId, customerId }: SubscriptionOwner, id: string) {
  const [row] = await tx
    .insert(paymentSubscriptions)
    .values({ id, organisationId, customerId })
    .onConflictDoNothing()
    .returning();
  return row ?? null;
}

/** Returns the number of the last stored event per subscription. Must be read before the provider is asked. */
export async function lastNumbers(app: App, organisationId: string): Promise<Map<string, number>> {
  const rows = await app.db
    .select({ id: paymentSubscriptions.id, number: paymentSubscriptions.lastEventNumber })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.organisationId, organisationId));
  return new Map(rows.map(({ id, number }) => [id, number]));
}
