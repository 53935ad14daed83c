import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../db/client.ts';
import { paymentKnownPrices } from '../../db/schema/billing.ts';
import { publishPlan } from '../entitlement/publish-plan.ts';
import type { Recomputed, SubscriptionRow } from './projection.ts';
import { isSameRow } from './subscription-row.ts';

type State = Pick<SubscriptionRow, 'status' | 'tier' | 'ended'>;

/**
 * Whether anything follows from a computed row: a known price, an entry in the history or a change of the plan in
 * the feed. The other columns can change without it, as at each renewal.
 */
export function hasConsequences(before: SubscriptionRow, { columns, newPrice }: Recomputed): boolean {
  const { currentPeriodEnd: _end, priceId: _price, tierSource: _source, ...deciding } = columns;
  return newPrice !== null || !isSameRow(before, deciding);
}

/** Stores what follows from a recomputed row that this transaction has written. `before` is the row as it was. */
export async function followRecomputed(
  app: App,
  tx: Transaction,
  organisationId: string,
  before: State,
  { columns, newPrice }: Recomputed,
): Promise<void> {
  if (newPrice !== null) await tx.insert(paymentKnownPrices).values(newPrice).onConflictDoNothing();
  await recordChange(app, tx, organisationId, before, columns);
  await publishPlan(app, tx, organisationId);
}

/**
 * Records in the audit log that a plan started, changed or ended, or that a payment failed, as a
 * recomputed row shows it. Runs in the transaction that writes the row. A repeated event or sync
 * changes no row and records nothing.
 */
export async function recordChange(
  app: App,
  tx: Transaction,
  organisationId: string,
  before: State,
  after: State,
): Promise<void> {
  const change = changeOf(before, after);
  if (change === null) return;

  // A tier that the plans no longer hold has no name.
  const nameOf = (tier: string) => app.plans.tiers.find((each) => each.tier === tier)?.name ?? tier;
  const details: Record<string, string> =
    change.action === 'subscription-changed'
      ? { from: nameOf(change.from), to: nameOf(change.to) }
      : { plan: nameOf(change.tier) };
  await recordAudit(tx, app.now(), { action: change.action, organisationId, details });
}

type Change =
  | { action: 'subscription-started' | 'subscription-ended' | 'payment-failed'; tier: string }
  | { action: 'subscription-changed'; from: string; to: string };

/** The statuses of a subscription that was paid for at least once. */
const started = new Set(['active', 'trialing', 'past_due', 'unpaid', 'paused']);

/** Returns what changed for the organisation; null if nothing did. */
export function changeOf(before: State, after: State): Change | null {
  const hadStarted = started.has(before.status ?? '');
  if (after.ended) {
    const tier = before.tier ?? after.tier;
    return hadStarted && tier !== null ? { action: 'subscription-ended', tier } : null;
  }
  if (after.tier === null || !started.has(after.status ?? '')) return null;

  if (after.status === 'past_due' && before.status !== 'past_due')
    return { action: 'payment-failed', tier: after.tier };
  if (!hadStarted) return { action: 'subscription-started', tier: after.tier };
  if (before.tier !== null && before.tier !== after.tier) {
    return { action: 'subscription-changed', from: before.tier, to: after.tier };
  }
  return null;
}
