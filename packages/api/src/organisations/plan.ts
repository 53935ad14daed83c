import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { type Executor, prepared } from '../platform/db/client.ts';
import { type Agreed, organisationPlans } from '../platform/db/schema/billing.ts';

type Plan = App['plans']['tiers'][number];

/** What an organisation has, as it is stored. Null stands for an organisation without a row: it has the first tier. */
export type PlanRow = typeof organisationPlans.$inferSelect;

/** The columns of a plan, for a query that joins `organisationPlans` by the organisation's id. */
export const planColumns = getTableColumns(organisationPlans);

/** What readers show of the subscription that decides the plan, entitled or not. */
type PlanSubscription = Pick<
  PlanRow,
  'cancelAtPeriodEnd' | 'currentPeriodStart' | 'currentPeriodEnd' | 'endsAt' | 'startedAt'
> & { id: string; status: string };

export type OrganisationPlan = {
  /** The tier that the organisation is entitled to now; `plan` has the limits and features, what was agreed included. */
  tier: Plan['tier'];
  plan: Plan;
  source: PlanRow['source'];
  /** What an override adds now; null without one. */
  agreed: Agreed | null;
  /** Null if the organisation has no subscription. */
  subscription: PlanSubscription | null;
};

/**
 * Returns the plan that an organisation has now. It decides nothing: billing has decided the row, and also the tier that
 * follows when its time has passed. A tier that the plans lack reads as the first one.
 */
export function currentPlan({ plans, now }: Pick<App, 'plans' | 'now'>, row: PlanRow | null): OrganisationPlan {
  const [first] = plans.tiers;
  if (row === null) return { tier: first.tier, plan: first, source: 'free', agreed: null, subscription: null };

  const hasPassed = row.validUntil !== null && row.validUntil <= now();
  const stored = hasPassed ? row.nextTier : row.tier;
  const plan = plans.tiers.find(({ tier }) => tier === stored) ?? first;
  const agreed = row.agreed?.until != null && new Date(row.agreed.until) <= now() ? null : row.agreed;
  const source = agreed === null && row.source === 'operator' ? 'subscription' : row.source;
  return {
    tier: plan.tier,
    plan: withAgreed(plan, agreed),
    source: plan === first ? 'free' : source,
    agreed,
    subscription: subscriptionOf(row),
  };
}

/** Returns a plan with what was agreed beside it. It only adds: the higher limit counts, and a feature of either is there. */
export function withAgreed(plan: Plan, agreed: Agreed | null): Plan {
  if (agreed === null) return plan;
  const limits = Object.entries(plan.limits).map(([meter, limit]) => {
    return [meter, higher(limit, agreed.limits[meter])] as const;
  });
  const features = Object.entries(plan.features).map(([name, has]) => [name, has || agreed.features[name] === true]);
  return { ...plan, limits: Object.fromEntries(limits), features: Object.fromEntries(features) };
}

/** The higher of a plan's limit and an agreed one. Null is unlimited, and undefined is none that was agreed. */
function higher(limit: number | null, agreed: number | null | undefined): number | null {
  if (agreed === undefined) return limit;
  return limit === null || agreed === null ? null : Math.max(limit, agreed);
}

function subscriptionOf({ subscriptionId, status, ...row }: PlanRow): PlanSubscription | null {
  if (subscriptionId === null || status === null) return null;
  const { cancelAtPeriodEnd, currentPeriodStart, currentPeriodEnd, endsAt, startedAt } = row;
  return { id: subscriptionId, status, cancelAtPeriodEnd, currentPeriodStart, currentPeriodEnd, endsAt, startedAt };
}

/** Reads the plan that an organisation has now, by one statement. */
export async function readPlan(app: App, organisationId: string, db: Executor = app.db): Promise<OrganisationPlan> {
  const [row] = await planOfOrganisation(db).execute({ organisationId });
  return currentPlan(app, row ?? null);
}

const planOfOrganisation = prepared((db) =>
  db
    .select()
    .from(organisationPlans)
    .where(eq(organisationPlans.organisationId, sql.placeholder('organisationId')))
    .prepare('organisation_plan'),
);
