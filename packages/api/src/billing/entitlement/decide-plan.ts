import { createHash } from 'node:crypto';
import { asc, eq, gt, lte } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordChange } from '../../changes/record-change.ts';
import { lockOrganisation } from '../../organisations/lock.ts';
import type { PlanRow } from '../../organisations/plan.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { organisationPlans, paymentSettings, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import type { SubscriptionRow } from '../subscription/newer-state.ts';
import { readRows, type StoredRows } from '../subscription/subscription-rows.ts';
import { graceEnd, ranked } from './rank-subscriptions.ts';

/** The columns of a plan that a decision gives. */
type DecidedPlan = Omit<PlanRow, 'organisationId' | 'since'>;

/**
 * Decides what an organisation has by its subscriptions, and by nothing else: the best one gives its tier while it is
 * entitled. Whatever gives a plan in another way joins here.
 */
export function decidePlan(app: Pick<App, 'plans' | 'config'>, rows: SubscriptionRow[], now: Date): DecidedPlan {
  const [best] = ranked(app.plans, rows, app.config.pastDueGraceDays, now);
  const [first] = app.plans.tiers;
  const row = best?.row ?? null;
  const tier = best?.entitled ? (best.row.tier ?? first.tier) : first.tier;
  const validUntil = best?.entitled ? entitledUntil(app, best.row) : null;
  return {
    tier,
    source: best?.entitled ? 'subscription' : 'free',
    subscriptionId: row?.id ?? null,
    status: row?.status ?? null,
    cancelAtPeriodEnd: row?.cancelAtPeriodEnd ?? false,
    currentPeriodStart: row?.currentPeriodStart ?? null,
    currentPeriodEnd: row?.currentPeriodEnd ?? null,
    endsAt: row?.endsAt ?? null,
    startedAt: row?.startedAt ?? null,
    validUntil,
    nextTier: validUntil && decidePlan(app, rows, validUntil).tier,
  };
}

/** When an entitled subscription stops to be entitled by time alone; null if it does not. */
function entitledUntil({ config }: Pick<App, 'config'>, row: SubscriptionRow): Date | null {
  const times = [row.endsAt, graceEnd(row, config.pastDueGraceDays)].filter((time) => time !== null);
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0] ?? null;
}

/**
 * Decides an organisation's plan and stores it if it changed, in the transaction of whatever may have changed it. The
 * caller holds the lock of the organisation's row. Tells the change in the feed, if other services see it.
 */
export async function storePlan(app: App, tx: Transaction, organisationId: string, input: StoredRows): Promise<void> {
  const now = app.now();
  const stored = input.plan;
  const decided = decidePlan(app, input.rows, now);
  if (stored === null && decided.source === 'free' && decided.subscriptionId === null) return;
  if (stored !== null && isSamePlan(stored, decided)) return;

  const isKept = stored?.tier === decided.tier && stored.source === decided.source;
  const row = { ...decided, organisationId, since: isKept ? stored.since : now };
  await tx
    .insert(organisationPlans)
    .values(row)
    .onConflictDoUpdate({ target: organisationPlans.organisationId, set: row });

  const data = toldOf(app, decided, now);
  const before = toldOf(app, stored, now);
  if (data.tier === before.tier && data.status === before.status && data.ends_at === before.ends_at) return;
  await recordChange(tx, now, { type: 'plan.changed', organisationId, data });
}

/** What the feed tells of a plan. An end that has come is told as the tier that follows. */
function toldOf({ plans }: App, plan: DecidedPlan | null, now: Date) {
  const { tier = plans.tiers[0].tier, status = null, endsAt = null } = plan ?? {};
  return { tier, status: status ?? 'none', ends_at: endsAt !== null && endsAt > now ? endsAt.toISOString() : null };
}

function isSamePlan(stored: PlanRow, decided: DecidedPlan): boolean {
  const plain = (value: unknown) => (value instanceof Date ? value.getTime() : value);
  return Object.entries(decided).every(([name, value]) => plain(value) === plain(stored[name as keyof DecidedPlan]));
}

/** Decides an organisation's plan anew. The caller holds the lock of the organisation's row. */
export async function decideAnew(app: App, tx: Transaction, organisationId: string): Promise<void> {
  await storePlan(app, tx, organisationId, await readRows(tx, { organisationId }));
}

const batchSize = 200;

/** Decides the plans anew that changed by time alone: a scheduled end came, or a grace period ended. */
export async function decideDuePlans(app: App): Promise<void> {
  for (;;) {
    const due = await app.db
      .select({ id: organisationPlans.organisationId })
      .from(organisationPlans)
      .where(lte(organisationPlans.validUntil, app.now()))
      .limit(batchSize);
    for (const { id } of due) await decideLocked(app, id);
    if (due.length < batchSize) return;
  }
}

const rulesSetting = 'plan_rules';

/**
 * Decides every plan anew if the plans or the grace differ from those of the last run, which a start may have changed.
 * Readers take a tier that the plans lack for the first one until then.
 */
export async function decideAllPlans(app: App): Promise<void> {
  const rules = createHash('sha256')
    .update(JSON.stringify([app.plans.tiers.map(({ tier }) => tier), app.config.pastDueGraceDays]))
    .digest('hex');
  const [stored] = await app.db.select().from(paymentSettings).where(eq(paymentSettings.name, rulesSetting));
  if (stored?.value === rules) return;

  for (let after: string | null = null; ; ) {
    const page: { id: string }[] = await app.db
      .selectDistinct({ id: paymentSubscriptions.organisationId })
      .from(paymentSubscriptions)
      .where(after === null ? undefined : gt(paymentSubscriptions.organisationId, after))
      .orderBy(asc(paymentSubscriptions.organisationId))
      .limit(batchSize);
    for (const { id } of page) await decideLocked(app, id);
    after = page.at(-1)?.id ?? null;
    if (page.length < batchSize) break;
  }
  await app.db
    .insert(paymentSettings)
    .values({ name: rulesSetting, value: rules })
    .onConflictDoUpdate({ target: paymentSettings.name, set: { value: rules } });
}

async function decideLocked(app: App, organisationId: string): Promise<void> {
  await app.db.transaction(async (tx) => {
    if (await lockOrganisation(tx, organisationId)) await decideAnew(app, tx, organisationId);
  });
}
