import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type Executor, prepared, type Transaction } from '../../db/client.ts';
import { paymentKnownPrices, paymentSubscriptions } from '../../db/schema/billing.ts';
import { tellPlan } from '../entitlement/tell-plan.ts';
import { matchTier } from '../plans/match-tier.ts';
import { priceNames } from '../plans/price-names.ts';
import { toDate } from './fields.ts';
import { type Projection, project, type StateEvent } from './projection.ts';
import { readStateEvents } from './read-state-events.ts';
import { recordChange } from './record-change.ts';
import { isEnded, type SubscriptionState } from './subscription-state.ts';

type SubscriptionRow = typeof paymentSubscriptions.$inferSelect;

/**
 * Recomputes a subscription's row from its snapshot and its stored events. The caller holds the
 * lock of the organisation's row. A state that is not certain leaves the row in need of a sync.
 * `parsed` is the stored event that causes this, if one does.
 */
export async function recompute(app: App, tx: Transaction, row: SubscriptionRow, parsed?: StateEvent): Promise<void> {
  const events = await readStateEvents(tx, row.id, row.settledNumber, parsed);
  const projection = project(events, row.settledNumber);
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
  await recordChange(app, tx, row.organisationId, row, { status: state.status, tier: match.tier, ended });
  await tellPlan(app, tx, row.organisationId);
}

export type Snapshot = { state: SubscriptionState; number: number; pastDueSince: Date | null };

type Decided = { state: SubscriptionState; certain: boolean; pastDueSince: Date | null };

/**
 * Decides between the provider's answer and the events. The answer wins unless the deciding
 * event was stored after the provider was asked. An end wins in any case, whichever of them
 * shows it, and a first state never replaces an answer of a later state (docs/decisions/019). Null
 * if there is neither.
 */
export function decide(snapshot: Snapshot | null, projection: Projection | null): Decided | null {
  const answered = snapshot && { state: snapshot.state, certain: true, pastDueSince: dueSince(snapshot, projection) };
  const shown = projection && {
    ...projection,
    pastDueSince: toDate(projection.pastDueSince) ?? snapshot?.pastDueSince ?? null,
  };
  if (answered === null || shown === null) return answered ?? shown;

  if (isEnded(answered.state)) return answered;
  if (isEnded(shown.state)) return shown;
  if (snapshot === null || shown.number <= snapshot.number) return answered;
  return isFirst(shown.state) && !isFirst(answered.state) ? { ...answered, certain: false } : shown;
}

/** Whether the subscription waits for its first payment: no later state leads back to this one. */
function isFirst({ status }: SubscriptionState): boolean {
  return status === 'incomplete';
}

/** The time of the run's first event if there is one, else of the provider's first past-due answer. */
function dueSince({ state, pastDueSince }: Snapshot, projection: Projection | null): Date | null {
  if (state.status !== 'past_due') return null;
  return toDate(projection?.pastDueSince ?? null) ?? pastDueSince;
}

function snapshotOf(row: SubscriptionRow): Snapshot | null {
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
