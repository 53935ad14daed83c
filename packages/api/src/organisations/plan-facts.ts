import { type SQL, sql } from 'drizzle-orm';
import { paymentSubscriptions as subscription } from '../db/schema/billing.ts';

/** What decides about an organisation's plan: its subscriptions, as the database writes them. */
export type PlanFacts = {
  id: string;
  /** The provider's mode; null where it is not known. Which mode counts, the key decides. */
  livemode: boolean | null;
  tier: string | null;
  status: string;
  cancel_at_period_end: boolean;
  current_period_end: string | null;
  ends_at: string | null;
  past_due_since: string | null;
  started_at: string | null;
}[];

/** Of each mode. Ended ones come last, so that a long history costs nothing and hides nothing. */
const mostRows = 10;

/**
 * A column for any query that knows an organisation's id: the facts from which billing
 * reads the plan. A lookup by index, cheap enough for the session's own query, which
 * must not know billing; so it stands here.
 */
export function planFacts(organisationId: unknown): SQL<PlanFacts | null> {
  return sql<PlanFacts | null>`(select json_agg(facts) from (
    select ${subscription.id}, ${subscription.livemode}, ${subscription.tier}, ${subscription.status},
      ${subscription.cancelAtPeriodEnd}, ${subscription.currentPeriodEnd}, ${subscription.endsAt},
      ${subscription.pastDueSince}, ${subscription.startedAt},
      row_number() over (
        partition by ${subscription.livemode} order by ${subscription.ended}, ${subscription.startedAt} desc
      ) as place
    from ${subscription}
    where ${subscription.organisationId} = ${organisationId} and ${subscription.status} is not null
  ) as facts where place <= ${sql.raw(String(mostRows))})`;
}
