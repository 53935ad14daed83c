import { sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type Executor, prepared } from '../../db/client.ts';
import { type PlanFacts, planFacts } from '../../organisations/plan-facts.ts';
import { isOfOurMode } from '../customers/mode.ts';
import { type Plan, type Plans, planOf, rankOf, type Tier } from '../plans/plans.ts';
import { type RankedFacts, ranked } from './entitlement.ts';

/** The properties of a subscription record that decide the plan. */
export type SubscriptionFacts = RankedFacts & { id: string; cancelAtPeriodEnd: boolean; currentPeriodEnd: Date | null };

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
  const tier = (deciding?.entitled && deciding.facts.tier) || 'free';
  return { tier, plan: planOf(app.plans, tier), subscription: deciding?.facts ?? null };
}

/** Returns the subscription that entitles the organisation to its tier, whose period counters may follow; null on the free tier. */
export function entitlingSubscription({ tier, plan, subscription }: OrganisationPlan) {
  return plan.price !== null && subscription?.tier === tier ? subscription : null;
}

/** Ranks the subscriptions of the key's mode. */
function rankedFrom(app: App, facts: PlanFacts | null | undefined) {
  const subscriptions = (facts ?? [])
    .filter(({ livemode }) => isOfOurMode(app, livemode))
    .map((row) => toSubscriptionFacts(app.plans, row));
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
    tier: rankOf(plans, row.tier) > 0 ? row.tier : null,
    status: row.status,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    currentPeriodEnd: parseTime(row.current_period_end),
    endsAt: parseTime(row.ends_at),
    pastDueSince: parseTime(row.past_due_since),
    startedAt: parseTime(row.started_at),
  };
}

function parseTime(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}
