import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { and, asc, eq, gt, isNotNull, lte } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordChange } from '../../changes/record-change.ts';
import { lockOrganisations } from '../../organisations/organisation.ts';
import { type PlanRow, withAgreed } from '../../organisations/plan.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { organisationPlans } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import type { Plans, Tier } from '../plans/plans.ts';
import { readSetting, saveSetting } from '../settings.ts';
import { readRows, type StoredRows } from '../subscription/subscription-rows.ts';
import { endOfOverride, standing } from './override.ts';
import { graceEnd, ranked, rankOf } from './rank-subscriptions.ts';

/** The columns of a plan that a decision gives. */
type DecidedPlan = Omit<PlanRow, 'organisationId' | 'since'>;

/** What decides a plan. */
type Deciding = Pick<StoredRows, 'rows' | 'override'>;

/**
 * Decides what an organisation has, by its subscriptions and what was agreed beside them: the best subscription gives its
 * tier while it is entitled, and an override that has not ended gives its own, of which the higher counts. The reader
 * adds the limits and features that were agreed. Whatever gives a plan in another way joins here.
 */
export function decidePlan(app: Pick<App, 'plans' | 'config'>, deciding: Deciding, now: Date): DecidedPlan {
  const override = standing(deciding.override, now);
  const graceDays = graceDaysOf(app, deciding, now);
  const [best] = rankedFor(app, deciding, now);
  const [first] = app.plans.tiers;
  const row = best?.row ?? null;
  const paid = best?.entitled ? (best.row.tier ?? first.tier) : first.tier;
  const tier = higherTier(app.plans, paid, override?.tier ?? null);
  const validUntil = nextChange([row?.endsAt, row && graceEnd(row, graceDays), endOfOverride(override)], now);
  return {
    tier,
    source: tier !== paid ? 'operator' : best?.entitled ? 'subscription' : 'free',
    subscriptionId: row?.id ?? null,
    status: row?.status ?? null,
    cancelAtPeriodEnd: row?.cancelAtPeriodEnd ?? false,
    currentPeriodStart: row?.currentPeriodStart ?? null,
    currentPeriodEnd: row?.currentPeriodEnd ?? null,
    endsAt: row?.endsAt ?? null,
    startedAt: row?.startedAt ?? null,
    validUntil,
    nextTier: validUntil && decidePlan(app, deciding, validUntil).tier,
    agreed: override?.agreed ?? null,
  };
}

/** Returns an organisation's subscriptions in the order in which they decide its plan, with the grace that was agreed. */
export function rankedFor(app: Pick<App, 'plans' | 'config'>, deciding: Deciding, now: Date) {
  const rules = { ...app.config, pastDueGraceDays: graceDaysOf(app, deciding, now) };
  return ranked(app.plans, deciding.rows, rules, now);
}

function graceDaysOf({ config }: Pick<App, 'config'>, { override }: Deciding, now: Date): number {
  return Math.max(config.pastDueGraceDays, standing(override, now)?.agreed.graceDays ?? 0);
}

/** The higher of two tiers. A tier that the plans lack is below all others. */
function higherTier(plans: Plans, one: Tier, other: Tier | null): Tier {
  return other !== null && rankOf(plans, other) > rankOf(plans, one) ? other : one;
}

/**
 * The earliest of some times that is to come: a subscription's scheduled end, that of its grace, that of an override.
 * Null if there is none. The end of a subscription that gives no plan counts too, because the feed tells until then that
 * it is to come.
 */
function nextChange(times: (Date | null | undefined)[], now: Date): Date | null {
  const toCome = times.filter((time) => time != null && time > now) as Date[];
  return toCome.toSorted((one, other) => one.getTime() - other.getTime())[0] ?? null;
}

/**
 * Decides an organisation's plan and stores it if it changed, in the transaction of whatever may have changed it. The
 * caller holds the lock of the organisation's row. Tells the change in the feed, if other services see it: also of a
 * plan that stayed, if it is of a tier in `changedTiers`, whose limits or features changed.
 */
export async function storePlan(
  app: App,
  tx: Transaction,
  organisationId: string,
  { plan: stored, ...deciding }: StoredRows,
  changedTiers: ReadonlySet<Tier> = new Set(),
): Promise<void> {
  const now = app.now();
  const decided = decidePlan(app, deciding, now);
  if (!isSamePlan(stored ?? decidePlan(app, { rows: [], override: null }, now), decided)) {
    const isKept = stored?.tier === decided.tier && stored.source === decided.source;
    const row = { ...decided, organisationId, since: isKept ? stored.since : now };
    await tx
      .insert(organisationPlans)
      .values(row)
      .onConflictDoUpdate({ target: organisationPlans.organisationId, set: row });
  }

  const [data, before] = [toldOf(app, decided), toldOf(app, stored)];
  if (isDeepStrictEqual(data, before) && !changedTiers.has(data.tier)) return;
  await recordChange(tx, now, { type: 'plan.changed', organisationId, data });
}

/** What the feed tells of a plan. An end that had come when it was decided is none. */
function toldOf(app: App, plan: DecidedPlan | null) {
  const { tier = app.plans.tiers[0].tier, status = null, source, validUntil = null, agreed = null } = plan ?? {};
  const endsAt = source === 'operator' ? agreed?.until && new Date(agreed.until) : plan?.endsAt;
  const isToCome = endsAt && validUntil !== null && validUntil <= endsAt;
  const { limits, features } = withAgreed(tierOf(app, tier), agreed);
  return { tier, status: status ?? 'none', ends_at: isToCome ? endsAt.toISOString() : null, limits, features };
}

function tierOf({ plans }: App, name: Tier) {
  return plans.tiers.find(({ tier }) => tier === name) ?? plans.tiers[0];
}

function isSamePlan(stored: DecidedPlan, decided: DecidedPlan): boolean {
  return Object.entries(decided).every(([name, value]) => isDeepStrictEqual(value, stored[name as keyof DecidedPlan]));
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
    await decideLocked(app, due);
    if (due.length < batchSize) return;
  }
}

const rulesSetting = 'plans_decided_by';

/** What every decision depends on, by the names of the tiers in rising rank. */
type Rules = { graceDays: number; disputes: 'keep' | 'end'; tiers: [name: Tier, limitsAndFeatures: string][] };

/**
 * Decides every plan anew if the plans, the grace or the rule of disputes differ from those of the last run, which a start may have changed,
 * and tells the change to the organisations of every tier whose limits or features changed. A run that fails half way
 * may tell it again. Readers take a tier that the plans lack for the first one until then.
 */
export async function decideAllPlans(app: App): Promise<void> {
  const rules = rulesOf(app);
  const value = JSON.stringify(rules);
  const stored = await readSetting(app.db, rulesSetting);
  if (stored === value) return;
  const changedTiers = stored === null ? new Set<Tier>() : tiersThatDiffer(rules, JSON.parse(stored));
  // An organisation without a row has the first tier.
  const concerned = changedTiers.has(app.plans.tiers[0].tier) ? undefined : isNotNull(organisationPlans.organisationId);
  for (let after: string | null = null; ; ) {
    const page: { id: string }[] = await app.db
      .select({ id: organisations.id })
      .from(organisations)
      .leftJoin(organisationPlans, eq(organisationPlans.organisationId, organisations.id))
      .where(and(concerned, after === null ? undefined : gt(organisations.id, after)))
      .orderBy(asc(organisations.id))
      .limit(batchSize);
    await decideLocked(app, page, changedTiers);
    after = page.at(-1)?.id ?? null;
    if (page.length < batchSize) break;
  }
  await saveSetting(app.db, rulesSetting, value);
}

/** Returns a digest of what every decision depends on, for the job that decides every plan anew. */
export function digestOfRules(app: App): string {
  return createHash('sha256')
    .update(JSON.stringify(rulesOf(app)))
    .digest('hex');
}

function rulesOf({ plans, config }: App): Rules {
  const tiers = plans.tiers.map(({ tier, limits, features }): Rules['tiers'][number] => {
    const sorted = [limits, features].map((each) =>
      Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
    return [tier, createHash('sha256').update(JSON.stringify(sorted)).digest('hex')];
  });
  return { graceDays: config.pastDueGraceDays, disputes: config.disputes, tiers };
}

function tiersThatDiffer(rules: Rules, before: Rules): Set<Tier> {
  const known = new Map(before.tiers);
  return new Set(rules.tiers.flatMap(([tier, hash]) => (known.has(tier) && known.get(tier) !== hash ? [tier] : [])));
}

/** Decides the plans of a batch of organisations in one transaction, whose statements are sent without waiting for each. */
async function decideLocked(app: App, batch: { id: string }[], changedTiers?: ReadonlySet<Tier>): Promise<void> {
  await app.db.transaction(async (tx) => {
    const locked = await lockOrganisations(
      tx,
      batch.map(({ id }) => id),
    );
    await Promise.all(
      locked.map(async (id) => storePlan(app, tx, id, await readRows(tx, { organisationId: id }), changedTiers)),
    );
  });
}
