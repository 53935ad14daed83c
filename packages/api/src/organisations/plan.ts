import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { type Executor, prepared } from '../platform/db/client.ts';
import { organisationPlans } from '../platform/db/schema/billing.ts';

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
  /** The tier that the organisation is entitled to now, with its limits and features in `plan`. */
  tier: Plan['tier'];
  plan: Plan;
  source: PlanRow['source'];
  /** Null if the organisation has no subscription. */
  subscription: PlanSubscription | null;
};

/**
 * Returns the plan that an organisation has now. It decides nothing: billing has decided the row, and also the tier that
 * follows when its time has passed. A tier that the plans lack reads as the first one.
 */
export function currentPlan({ plans, now }: Pick<App, 'plans' | 'now'>, row: PlanRow | null): OrganisationPlan {
  const [first] = plans.tiers;
  if (row === null) return { tier: first.tier, plan: first, source: 'free', subscription: null };

  const hasPassed = row.validUntil !== null && row.validUntil <= now();
  const stored = hasPassed ? row.nextTier : row.tier;
  const plan = plans.tiers.find(({ tier }) => tier === stored) ?? first;
  return {
    tier: plan.tier,
    plan,
    source: plan === first ? 'free' : row.source,
    subscription: subscriptionOf(row),
  };
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
