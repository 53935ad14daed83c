import { eq, lte, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordPlanChange } from '../../changes/record-change.ts';
import { lockOrganisation } from '../../organisations/lock.ts';
import { planFacts } from '../../organisations/plan-facts.ts';
import { prepared, type Transaction } from '../../platform/db/client.ts';
import { paymentKnownPrices } from '../../platform/db/schema/billing.ts';
import { toldOrganisations as published } from '../../platform/db/schema/changes.ts';
import { graceEnd, type OrganisationPlan, planFrom } from '../entitlement/read-plan.ts';
import type { RecomputedRow, SubscriptionRow } from './projection.ts';
import { isSameRow } from './subscription-row.ts';

type StatusColumns = Pick<SubscriptionRow, 'status' | 'tier' | 'ended'>;

/**
 * Whether anything follows from a computed row: a known price, an audit entry or a change of the plan in the feed.
 * The other columns can change without it, as at each renewal.
 */
export function hasConsequences(before: SubscriptionRow, { columns, newPrice }: RecomputedRow): boolean {
  const {
    currentPeriodStart: _start,
    currentPeriodEnd: _end,
    priceId: _price,
    tierSource: _source,
    ...deciding
  } = columns;
  return newPrice !== null || !isSameRow(before, deciding);
}

/** Stores what follows from a recomputed row that this transaction has written. `before` is the row as it was. */
export async function storeConsequences(
  app: App,
  tx: Transaction,
  organisationId: string,
  before: StatusColumns,
  { columns, newPrice }: RecomputedRow,
): Promise<void> {
  if (newPrice !== null) await tx.insert(paymentKnownPrices).values(newPrice).onConflictDoNothing();
  await recordPlanAudit(app, tx, organisationId, before, columns);
  // The job waits for the lease, so it also finds a checkout that is just being opened and is not yet stored.
  if (!hasStarted(before) && hasStarted(columns)) {
    await app.jobs.send(tx, 'payment-checkouts', { organisationId }, { key: organisationId });
  }
  await publishPlan(app, tx, organisationId);
}

/**
 * Records in the audit log that a plan started, changed or ended, or that a payment failed, as a
 * recomputed row shows it. Runs in the transaction that writes the row. A repeated event or sync
 * changes no row and records nothing.
 */
async function recordPlanAudit(
  app: App,
  tx: Transaction,
  organisationId: string,
  before: StatusColumns,
  after: StatusColumns,
): Promise<void> {
  const entry = planEntryOf(before, after);
  if (entry === null) return;

  // A tier that the plans no longer hold has no name.
  const nameOf = (tier: string) => app.plans.tiers.find((each) => each.tier === tier)?.name ?? tier;
  const details: Record<string, string> =
    entry.action === 'subscription-changed'
      ? { from: nameOf(entry.from), to: nameOf(entry.to) }
      : { plan: nameOf(entry.tier) };
  await recordAudit(tx, app.now(), { action: entry.action, organisationId, details });
}

type PlanEntry =
  | { action: 'subscription-started' | 'subscription-ended' | 'payment-failed'; tier: string }
  | { action: 'subscription-changed'; from: string; to: string };

/** The statuses of a subscription that has started: every one but `incomplete` and those of an ended one. */
export const startedStatuses = ['active', 'trialing', 'past_due', 'unpaid', 'paused'];

function hasStarted({ status }: Pick<StatusColumns, 'status'>): boolean {
  return status !== null && startedStatuses.includes(status);
}

/** Returns the audit entry about a change of the plan; null if there is none. */
export function planEntryOf(before: StatusColumns, after: StatusColumns): PlanEntry | null {
  const hadStarted = hasStarted(before);
  if (after.ended) {
    const tier = before.tier ?? after.tier;
    return hadStarted && tier !== null ? { action: 'subscription-ended', tier } : null;
  }
  if (after.tier === null || !hasStarted(after)) return null;

  if (after.status === 'past_due' && before.status !== 'past_due')
    return { action: 'payment-failed', tier: after.tier };
  if (!hadStarted) return { action: 'subscription-started', tier: after.tier };
  if (before.tier !== null && before.tier !== after.tier) {
    return { action: 'subscription-changed', from: before.tier, to: after.tier };
  }
  return null;
}

/**
 * Adds plan.changed to the feed if the organisation's plan differs from what the feed contains,
 * and stores when it will change by time alone. The caller may have changed it in this transaction,
 * and holds the lock of the organisation's row: of two calls the second reads what the first published.
 */
export async function publishPlan(app: App, tx: Transaction, organisationId: string): Promise<void> {
  const [last] = await lastPublished(tx).execute({ organisationId });
  if (last === undefined) return;

  const current = planFrom(app, last.facts);
  const { status = 'none', endsAt = null } = current.subscription ?? {};
  const ends = endsAt !== null && endsAt > app.now() ? endsAt : null;
  const { tier } = current;
  const due = dueAt(app, current);
  const isPublished = last.tier === tier && last.status === status && isSame(last.endsAt, ends);
  if (isPublished && isSame(last.dueAt, due)) return;

  await tx
    .update(published)
    .set({ tier, status, endsAt: ends, dueAt: due })
    .where(eq(published.organisationId, organisationId));
  if (isPublished) return;
  await recordPlanChange(tx, app.now(), organisationId, { tier, status, ends_at: ends?.toISOString() ?? null });
}

const lastPublished = prepared((db) =>
  db
    .select({
      tier: published.tier,
      status: published.status,
      endsAt: published.endsAt,
      dueAt: published.dueAt,
      facts: planFacts(sql`${published}."organisation_id"`),
    })
    .from(published)
    .where(eq(published.organisationId, sql.placeholder('organisationId')))
    .prepare('published_plan'),
);

function isSame(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}

/** The next time at which a scheduled end or the end of the grace period comes; null if there is none. */
function dueAt(app: App, { subscription }: OrganisationPlan): Date | null {
  if (subscription === null) return null;
  const times = [subscription.endsAt, graceEnd(subscription, app.config.pastDueGraceDays)];
  const later = times.filter((time) => time !== null && time > app.now()) as Date[];
  return later.toSorted((one, other) => one.getTime() - other.getTime())[0] ?? null;
}

const batchSize = 200;

/** Publishes the plans that changed by time alone: a scheduled end, or a grace period that ended. */
export async function publishDuePlans(app: App): Promise<void> {
  for (;;) {
    const due = await app.db
      .select({ id: published.organisationId })
      .from(published)
      .where(lte(published.dueAt, app.now()))
      .limit(batchSize);
    for (const { id } of due) {
      await app.db.transaction(async (tx) => {
        if (await lockOrganisation(tx, id)) await publishPlan(app, tx, id);
      });
    }
    if (due.length < batchSize) return;
  }
}
