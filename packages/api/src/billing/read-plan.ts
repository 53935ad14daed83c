import { type SQL, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { type Executor, prepared } from '../db/client.ts';
import { paymentSubscriptions as subscription } from '../db/schema.ts';
import { best, type Facts, isEntitled } from './entitlement.ts';
import { type PaidTier, type Plan, planOf, type Tier } from './plans.ts';

export type SubscriptionFacts = Facts & { id: string; cancelAtPeriodEnd: boolean; currentPeriodEnd: Date | null };

export type OrganisationPlan = {
  /** What the organisation is entitled to now. */
  tier: Tier;
  plan: Plan;
  /** The subscription that speaks for it, entitled or not. */
  subscription: SubscriptionFacts | null;
};

/** What an organisation may use now, in one query. */
export async function readPlan(app: App, organisationId: string, db: Executor = app.db): Promise<OrganisationPlan> {
  const [row] = await organisationFacts(db).execute({ organisationId });
  return planFrom(app, row?.facts);
}

/** The same from a row of `planFacts`, which another query may bring along. */
export function planFrom(app: App, facts: PlanFacts | null | undefined): OrganisationPlan {
  const subscription = best((facts ?? []).map(readFacts), app.config.pastDueGraceDays, app.now());
  const entitled = subscription !== null && isEntitled(subscription, app.config.pastDueGraceDays, app.now());
  const tier = entitled && subscription.tier !== null ? subscription.tier : 'free';
  return { tier, plan: planOf(app.plans, tier), subscription };
}

export type PlanFacts = {
  id: string;
  tier: PaidTier | null;
  status: string;
  cancel_at_period_end: boolean;
  current_period_end: string | null;
  ends_at: string | null;
  past_due_since: string | null;
  started_at: string | null;
}[];

/** Ended ones come last, so that a long history costs nothing and hides nothing. */
const mostRows = 10;

/**
 * A column for any query that knows an organisation's id: the facts that `planFrom`
 * needs. A lookup by index, cheap enough to be joined to a session's query.
 */
export function planFacts(organisationId: unknown): SQL<PlanFacts | null> {
  return sql<PlanFacts | null>`(select json_agg(facts) from (
    select ${subscription.id}, ${subscription.tier}, ${subscription.status}, ${subscription.cancelAtPeriodEnd},
      ${subscription.currentPeriodEnd}, ${subscription.endsAt}, ${subscription.pastDueSince}, ${subscription.startedAt}
    from ${subscription}
    where ${subscription.organisationId} = ${organisationId} and ${subscription.status} is not null
    order by ${subscription.ended}, ${subscription.startedAt} desc limit ${sql.raw(String(mostRows))}
  ) as facts)`;
}

const organisationFacts = prepared((db) =>
  db
    .select({ facts: planFacts(sql.placeholder('organisationId')) })
    .from(sql`(select 1) as one`)
    .prepare('payment_plan_facts'),
);

function readFacts(row: PlanFacts[number]): SubscriptionFacts {
  return {
    id: row.id,
    tier: row.tier,
    status: row.status,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    currentPeriodEnd: toDate(row.current_period_end),
    endsAt: toDate(row.ends_at),
    pastDueSince: toDate(row.past_due_since),
    startedAt: toDate(row.started_at),
  };
}

function toDate(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}
