import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { prepared, type Transaction } from '../../platform/db/client.ts';
import { paymentKnownPrices, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { storePlan } from '../entitlement/decide-plan.ts';
import { isSame, type SubscriptionRow, type WrittenColumns } from './newer-state.ts';
import type { StoredRows } from './subscription-rows.ts';

type Write = {
  id: string;
  organisationId: string;
  customerId: string;
  /** Null if the state stays: then only the version is raised. */
  columns: WrittenColumns | null;
  newPrice: typeof paymentKnownPrices.$inferInsert | null;
  /** What is set beside the state. */
  marks: Partial<Pick<SubscriptionRow, 'needsSync' | 'syncedAt' | 'problem'>>;
};

/**
 * Writes a subscription's row with what follows from it: its version is raised, and where the state changed, the audit
 * entry, the plan and the feed follow in this transaction. `stored` was read under the lock of the organisation's row.
 */
export async function writeRow(app: App, tx: Transaction, stored: StoredRows, write: Write): Promise<void> {
  const { id, organisationId, customerId, columns, newPrice, marks } = write;
  const before = stored.rows.find((each) => each.id === id) ?? null;
  const version = (before?.version ?? 0) + 1;
  const row = { ...(before ?? { ...emptyRow, id, organisationId, customerId }), ...columns, ...marks, version };
  await upsert(tx).execute(toDriver(row));
  if (columns === null) return;

  if (newPrice !== null) {
    await tx.insert(paymentKnownPrices).values(newPrice).onConflictDoNothing();
    // Read anew with the next event, so that a transaction that fails leaves no price in memory that is not stored.
    app.priceCache.knownPrices = [];
  }
  if (before !== null && isSame(before, consequential(columns))) return;
  const rows = [...stored.rows.filter((each) => each.id !== id && each.organisationId === organisationId), row];
  await storeConsequences(app, tx, { before, after: row, stored: { ...stored, rows } });
}

/** A subscription of which only the id is known. */
const emptyRow = {
  status: null,
  ended: false,
  tier: null,
  tierSource: null,
  priceId: null,
  amount: null,
  currency: null,
  interval: null,
  quantity: null,
  trialEnded: false,
  collectionPaused: false,
  daysUntilDue: null,
  invoiceTrouble: null,
  disputed: false,
  paymentMethod: null,
  credit: 0,
  discounts: [],
  nextTierAt: null,
  nextTier: null,
  nextInterval: null,
  cancelAtPeriodEnd: false,
  currentPeriodStart: null,
  currentPeriodEnd: null,
  endsAt: null,
  startedAt: null,
  pastDueSince: null,
  stateAt: null,
  undone: null,
  needsSync: false,
  syncedAt: null,
  problem: null,
};

/** Prepared, as the row is written by each event: otherwise an event takes a half longer. */
const upsert = prepared((db) => {
  const { id, organisationId, customerId, ...written } = getTableColumns(subscription);
  const names = Object.keys({ id, organisationId, customerId, ...written });
  // As text of SQL, because drizzle encodes the null of a placeholder as a date or as JSON.
  const values = Object.fromEntries(names.map((name) => [name, sql`${sql.placeholder(name)}`]));
  const set = Object.entries(written).map(([name, column]) => [name, sql`excluded.${sql.identifier(column.name)}`]);
  return db
    .insert(subscription)
    .values(values as Record<keyof SubscriptionRow, SQL>)
    .onConflictDoUpdate({ target: subscription.id, set: Object.fromEntries(set) })
    .prepare('payment_subscription_write');
});

function toDriver(row: SubscriptionRow): Record<string, unknown> {
  const values = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Date ? value.toISOString() : value,
  ]);
  return {
    ...Object.fromEntries(values),
    undone: row.undone && JSON.stringify(row.undone),
    discounts: JSON.stringify(row.discounts),
  };
}

/** The columns from whose change something follows. */
function consequential({
  stateAt: _at,
  undone: _undone,
  tierSource: _source,
  priceId: _price,
  discounts: _discounts,
  ...deciding
}: WrittenColumns) {
  return deciding;
}

type StatusColumns = Pick<SubscriptionRow, 'status' | 'tier' | 'ended'>;

const unknownRow: StatusColumns = { status: null, tier: null, ended: false };

/**
 * Stores what follows from a change of a subscription's row, in the transaction that wrote it: an audit entry, the
 * closing of open checkouts, and the organisation's plan. `before` is null for a new row.
 */
async function storeConsequences(
  app: App,
  tx: Transaction,
  { before, after, stored }: { before: SubscriptionRow | null; after: SubscriptionRow; stored: StoredRows },
): Promise<void> {
  const { organisationId } = after;
  await recordPlanAudit(app, tx, organisationId, before ?? unknownRow, after);
  // The job waits for the lease, so it also finds a checkout that is just being opened and is not yet stored.
  if (!hasStarted(before ?? unknownRow) && hasStarted(after)) {
    await app.jobs.send(tx, 'payment-checkouts', { organisationId }, { key: organisationId });
  }
  await storePlan(app, tx, organisationId, stored);
}

/**
 * Records in the audit log that a plan started, changed or ended, or that a payment failed, as a
 * written row shows it. A repeated event or sync changes no row and records nothing.
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
