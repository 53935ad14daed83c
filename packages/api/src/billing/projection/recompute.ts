import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type Executor, prepared, type Transaction } from '../../db/client.ts';
import { paymentKnownPrices, paymentSubscriptions } from '../../db/schema/billing.ts';
import { matchTier } from '../plans/match-tier.ts';
import { priceNames } from '../plans/price-names.ts';
import { toDate } from './fields.ts';
import { type Projection, project } from './projection.ts';
import { readStateEvents } from './read-state-events.ts';
import { isEnded, type SubscriptionState } from './subscription-state.ts';

type Row = typeof paymentSubscriptions.$inferSelect;

/**
 * Computes a subscription's row anew from its snapshot and its stored events. The row
 * of its organisation must be locked, and the subscription's own must exist.
 */
export async function recompute(app: App, tx: Transaction, row: Row): Promise<void> {
  const told = await readStateEvents(tx, row.id, row.settledNumber);
  const projection = project(told, row.settledNumber);
  const decided = decide(snapshotOf(row), projection);
  if (decided === null) return;

  const { state, pastDueSince } = decided;
  const ended = isEnded(state);
  const match = matchTier(state, await knownPrices(tx).execute(), priceNames(app));

  if (match.source === 'lookup_key' && match.priceId !== null && match.tier !== null) {
    const productId = state.items.find((item) => item.priceId === match.priceId)?.productId ?? null;
    const price = { priceId: match.priceId, productId, tier: match.tier };
    await tx.insert(paymentKnownPrices).values(price).onConflictDoNothing();
  }
  await tx
    .update(paymentSubscriptions)
    .set({
      status: state.status,
      ended,
      tier: match.tier,
      tierSource: match.source,
      priceId: match.priceId,
      cancelAtPeriodEnd: !ended && state.scheduled,
      currentPeriodEnd: ended ? null : toDate(state.currentPeriodEnd),
      endsAt: ended ? null : toDate(state.endsAt),
      startedAt: toDate(state.createdAt),
      pastDueSince,
      ...(decided.certain ? {} : { needsSync: true }),
    })
    .where(eq(paymentSubscriptions.id, row.id));
}

export type Snapshot = { state: SubscriptionState; number: number; pastDueSince: Date | null };

type Decided = { state: SubscriptionState; certain: boolean; pastDueSince: Date | null };

/**
 * The provider's answer stands unless the event that decides was stored after the
 * provider was asked. An end absorbs, whichever side tells it; what no subscription
 * comes back to yields to an answer that is past it (decision 026).
 */
export function decide(snapshot: Snapshot | null, projection: Projection | null): Decided | null {
  const asked = snapshot && { state: snapshot.state, certain: true, pastDueSince: dueSince(snapshot, projection) };
  const told = projection && {
    ...projection,
    pastDueSince: toDate(projection.pastDueSince) ?? snapshot?.pastDueSince ?? null,
  };
  if (asked === null || told === null) return asked ?? told;

  if (isEnded(asked.state)) return asked;
  if (isEnded(told.state)) return told;
  if (snapshot === null || told.number <= snapshot.number) return asked;
  return isFirst(told.state) && !isFirst(asked.state) ? { ...asked, certain: false } : told;
}

/** Waiting for the first payment: where a subscription begins, and never is again. */
function isFirst({ status }: SubscriptionState): boolean {
  return status === 'incomplete';
}

/** Since the first event of the run where one told it, else since the provider first said so. */
function dueSince({ state, pastDueSince }: Snapshot, projection: Projection | null): Date | null {
  if (state.status !== 'past_due') return null;
  return toDate(projection?.pastDueSince ?? null) ?? pastDueSince;
}

function snapshotOf(row: Row): Snapshot | null {
  if (row.snapshot === null || row.snapshotNumber === null) return null;
  return { state: JSON.parse(row.snapshot), number: row.snapshotNumber, pastDueSince: row.snapshotPastDueSince };
}

const knownPrices = prepared((db: Executor) =>
  db
    .select({
      priceId: paymentKnownPrices.priceId,
      productId: paymentKnownPrices.productId,
      tier: paymentKnownPrices.tier,
    })
    .from(paymentKnownPrices)
    .prepare('payment_known_prices'),
);
