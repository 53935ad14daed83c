import { sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type PlanFacts, planFacts } from '../../organisations/plan-facts.ts';
import { type Executor, prepared } from '../../platform/db/client.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import type { PaidTier, Plan, Plans, Tier } from '../plans/plans.ts';
import { statusClassOf } from '../projection/provider-objects.ts';

/** The properties of a subscription record that decide the plan. */
export type SubscriptionFacts = RankedFacts & {
  cancelAtPeriodEnd: boolean;
  /** Null for a row that no event or sync has written since the column was added. */
  currentPeriodStart: Date | null;
  currentPeriodEnd: Date | null;
};

export type OrganisationPlan = {
  /** The tier that the organisation is entitled to now. */
  tier: Tier;
  plan: Plan;
  /** The subscription that decides the plan, entitled or not; null if there is none. */
  subscription: SubscriptionFacts | null;
};

/** Reads an organisation's current plan by one query. */
export async function readPlan(app: App, organisationId: string, db: Executor = app.db): Promise<OrganisationPlan> {
  const [row] = await organisationFacts(db).execute({ organisationId });
  return planFrom(app, row?.facts);
}

/** Reads an organisation's subscriptions from its rows, the one that decides the plan first. */
export async function rankedSubscriptions(app: App, organisationId: string): Promise<SubscriptionFacts[]> {
  const [row] = await organisationFacts(app.db).execute({ organisationId });
  return rankedFrom(app, row?.facts).map(({ facts }) => facts);
}

/** Computes the plan from the column `planFacts`, which any query can include. */
export function planFrom(app: App, facts: PlanFacts | null | undefined): OrganisationPlan {
  const [deciding] = rankedFrom(app, facts);
  const [free] = app.plans.tiers;
  const entitled = deciding?.entitled ? app.plans.tiers.find(({ tier }) => tier === deciding.facts.tier) : undefined;
  const plan = entitled ?? free;
  return { tier: plan.tier, plan, subscription: deciding?.facts ?? null };
}

/** Returns the subscription that entitles the organisation to its tier, whose period counters may follow; null on the free tier. */
export function entitlingSubscription({ tier, plan, subscription }: OrganisationPlan) {
  return plan.price !== null && subscription?.tier === tier ? subscription : null;
}

function rankedFrom(app: App, facts: PlanFacts | null | undefined) {
  const subscriptions = (facts ?? []).map((row) => toSubscriptionFacts(app.plans, row));
  return ranked(app.plans, subscriptions, app.config.pastDueGraceDays, app.now());
}

const organisationFacts = prepared((db) =>
  db
    .select({ facts: planFacts(sql.placeholder('organisationId')) })
    .from(sql`(select 1) as one`)
    .prepare('payment_plan_facts'),
);

/** The tier is null if the plans no longer hold it: then the subscription gives nothing. */
function toSubscriptionFacts(plans: Plans, row: PlanFacts[number]): SubscriptionFacts {
  return {
    id: row.id,
    tier: row.tier !== null && Object.hasOwn(plans.priceNames, row.tier) ? row.tier : null,
    status: row.status,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    currentPeriodStart: parseTime(row.current_period_start),
    currentPeriodEnd: parseTime(row.current_period_end),
    endsAt: parseTime(row.ends_at),
    pastDueSince: parseTime(row.past_due_since),
    startedAt: parseTime(row.started_at),
  };
}

function parseTime(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}

/** The properties of a subscription that decide its entitlement and its rank. */
export type RankedFacts = {
  id: string;
  tier: PaidTier | null;
  status: string;
  endsAt: Date | null;
  pastDueSince: Date | null;
  startedAt: Date | null;
};

/**
 * Whether a subscription gives its tier's limits and features now. A status that is not known
 * here gives nothing, and a subscription gives nothing from its scheduled end on.
 */
export function isEntitled(facts: Omit<RankedFacts, 'id' | 'startedAt'>, graceDays: number, now: Date): boolean {
  if (facts.tier === null) return false;
  if (facts.endsAt !== null && facts.endsAt <= now) return false;
  if (facts.status === 'active' || facts.status === 'trialing') return true;

  const ends = graceEnd(facts, graceDays);
  return ends !== null && now < ends;
}

/** The end of a past-due subscription's grace period; null if it is not past due. */
export function graceEnd(
  { status, pastDueSince }: Pick<RankedFacts, 'status' | 'pastDueSince'>,
  graceDays: number,
): Date | null {
  if (status !== 'past_due' || pastDueSince === null) return null;
  return new Date(pastDueSince.getTime() + graceDays * dayMilliseconds);
}

/** From the best status to the worst; statuses that are not known here follow, and ended ones come last. */
const statusOrder = ['active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete'];

/**
 * Returns the subscription that determines its organisation's plan: an entitled one before others, then
 * the best status, then the higher tier, then the newest. So the late end of an old subscription
 * cannot remove the plan of a new one. Among equals the id decides, so that every read returns the same one. Null if
 * there is none.
 */
export function decidingSubscription<Some extends RankedFacts>(
  plans: Plans,
  all: Some[],
  graceDays: number,
  now: Date,
): Some | null {
  return ranked(plans, all, graceDays, now)[0]?.facts ?? null;
}

/** Returns all subscriptions in the order of `decidingSubscription`, and whether each is entitled. */
function ranked<Some extends RankedFacts>(
  plans: Plans,
  all: Some[],
  graceDays: number,
  now: Date,
): { facts: Some; entitled: boolean }[] {
  const ranks = all.map((facts) => {
    const entitled = isEntitled(facts, graceDays, now);
    return { facts, entitled, rank: rankOfFacts(plans, facts, entitled) };
  });
  return ranks.sort((one, other) => compare(one.rank, other.rank) || (one.facts.id < other.facts.id ? 1 : -1));
}

function rankOfFacts(plans: Plans, { tier, status, startedAt }: RankedFacts, entitled: boolean): number[] {
  return [entitled ? 0 : 1, statusRank(status), -rankOf(plans, tier), -(startedAt?.getTime() ?? 0)];
}

/** Returns the tier's position in the plans; -1 for a tier that the plans do not hold. A higher rank is the better tier. */
function rankOf(plans: Plans, tier: Tier | null): number {
  return plans.tiers.findIndex((each) => each.tier === tier);
}

function statusRank(status: string): number {
  const index = status === 'trialing' ? 0 : statusOrder.indexOf(status);
  if (index !== -1) return index;
  return statusClassOf(status) === 'ended' ? statusOrder.length + 1 : statusOrder.length;
}

function compare(one: number[], other: number[]): number {
  for (const [at, value] of one.entries()) {
    const difference = value - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
