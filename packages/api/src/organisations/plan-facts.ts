import { type SQL, sql } from 'drizzle-orm';
import { paymentSubscriptions as subscription } from '../platform/db/schema/billing.ts';
import { organisations } from '../platform/db/schema/organisations.ts';

/** The subscriptions that determine an organisation's plan, as the database writes them in JSON or as text. */
export type PlanFacts = {
  id: string;
  tier: string | null;
  status: string;
  cancel_at_period_end: boolean;
  current_period_start: string | null;
  current_period_end: string | null;
  ends_at: string | null;
  past_due_since: string | null;
  started_at: string | null;
}[];

/** The columns of one fact, for a query that joins the table. Times stay the texts that the database writes. */
export const planFact = {
  id: subscription.id,
  tier: subscription.tier,
  status: subscription.status,
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  current_period_start: sql<string | null>`${subscription.currentPeriodStart}`,
  current_period_end: sql<string | null>`${subscription.currentPeriodEnd}`,
  ends_at: sql<string | null>`${subscription.endsAt}`,
  past_due_since: sql<string | null>`${subscription.pastDueSince}`,
  started_at: sql<string | null>`${subscription.startedAt}`,
};

/** The limit of ended subscriptions, so that a long history costs no time. */
const maxEnded = 10;

/**
 * Returns a column for any query that knows an organisation's id: the rows from which billing
 * computes the plan. It is one lookup by index, so the session's query can include it. Every subscription that has not
 * ended is read: only billing's rules can choose among them. It is declared here because sessions must not import
 * billing.
 */
export function planFacts(organisationId: unknown): SQL<PlanFacts | null> {
  return sql<PlanFacts | null>`(select json_agg(facts) from (
    select ${subscription.id}, ${subscription.tier}, ${subscription.status},
      ${subscription.cancelAtPeriodEnd}, ${subscription.currentPeriodStart}, ${subscription.currentPeriodEnd},
      ${subscription.endsAt}, ${subscription.pastDueSince}, ${subscription.startedAt},
      case when ${subscription.ended} then row_number() over (
        partition by ${subscription.ended}
        order by ${subscription.startedAt} desc, ${subscription.id} desc
      ) else 0 end as place
    from ${subscription}
    where ${subscription.organisationId} = ${organisationId} and ${subscription.status} is not null
  ) as facts where place <= ${sql.raw(String(maxEnded))})`;
}

/**
 * Returns the column of `planFacts` for a query of organisations alone. Drizzle writes the columns of such a query
 * without their table, and the subquery would interpret "id" as its own column.
 */
export function planFactsOfOrganisations(): SQL<PlanFacts | null> {
  return planFacts(sql`${organisations}."id"`);
}
