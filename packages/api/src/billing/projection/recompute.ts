import type { App } from '../../app.ts';
import type { Transaction } from '../../db/client.ts';
import { paymentKnownPrices } from '../../db/schema/billing.ts';
import { publishPlan } from '../entitlement/publish-plan.ts';
import { matchTier } from '../plans/match-tier.ts';
import { priceNames } from '../plans/plans.ts';
import { toDate } from './fields.ts';
import { type Projection, project } from './projection.ts';
import type { Facts, SubscriptionRow } from './read-facts.ts';
import { recordChange } from './record-change.ts';
import { isEnded, type SubscriptionState } from './subscription-state.ts';

/** The columns of a subscription's row that its snapshot and its stored events decide. */
export type Computed = Pick<
  SubscriptionRow,
  | 'status'
  | 'ended'
  | 'tier'
  | 'tierSource'
  | 'priceId'
  | 'cancelAtPeriodEnd'
  | 'currentPeriodEnd'
  | 'endsAt'
  | 'startedAt'
  | 'pastDueSince'
>;

export type Recomputed = {
  columns: Computed;
  /** False if the events permit another state: the row needs a sync. */
  certain: boolean;
  /** A price that the subscription shows for the first time. */
  newPrice: typeof paymentKnownPrices.$inferInsert | null;
};

/** Computes a subscription's row from its snapshot and its stored events. Null if there is neither. */
export function recompute(app: App, { row, events, prices }: Facts): Recomputed | null {
  const decided = decide(row && snapshotOf(row), project(events, row?.settledNumber ?? 0));
  if (decided === null) return null;

  const { state, pastDueSince, certain } = decided;
  const ended = isEnded(state);
  const { tier, source, priceId } = matchTier(state, prices, priceNames(app));
  const productId = state.items.find((item) => item.priceId === priceId)?.productId ?? null;
  const isNew = source === 'lookup_key' && priceId !== null && tier !== null;
  return {
    columns: {
      status: state.status,
      ended,
      tier,
      tierSource: source,
      priceId,
      cancelAtPeriodEnd: !ended && state.scheduled,
      currentPeriodEnd: ended ? null : toDate(state.currentPeriodEnd),
      endsAt: ended ? null : toDate(state.endsAt),
      startedAt: toDate(state.createdAt),
      pastDueSince,
    },
    certain,
    newPrice: isNew ? { priceId, productId, tier } : null,
  };
}

/** Stores what follows from a recomputed row that this transaction has written. `before` is the row as it was. */
export async function followRecomputed(
  app: App,
  tx: Transaction,
  organisationId: string,
  before: Pick<SubscriptionRow, 'status' | 'tier' | 'ended'>,
  { columns, newPrice }: Recomputed,
): Promise<void> {
  if (newPrice !== null) await tx.insert(paymentKnownPrices).values(newPrice).onConflictDoNothing();
  await recordChange(app, tx, organisationId, before, columns);
  await publishPlan(app, tx, organisationId);
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

function snapshotOf({ snapshot, snapshotNumber, snapshotPastDueSince }: SubscriptionRow): Snapshot | null {
  if (snapshot === null || snapshotNumber === null) return null;
  return { state: JSON.parse(snapshot), number: snapshotNumber, pastDueSince: snapshotPastDueSince };
}
