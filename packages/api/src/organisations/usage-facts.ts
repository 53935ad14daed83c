import { type SQL, sql } from 'drizzle-orm';
import { memberships } from '../platform/db/schema/members.ts';
import { usage } from '../platform/db/schema/usage.ts';

/** What an organisation has used, as the database writes it in JSON. */
export type UsageFacts = { counted: { meter: string; since: string; used: number }[] | null; members: number };

/**
 * Returns a column for any query that knows an organisation's id: the counts from which usage
 * computes its meters. `now` is the time of the request; no current period started 370 days before
 * it. It is declared here because sessions must not import usage.
 */
export function usageFacts(organisationId: unknown, now: unknown): SQL<UsageFacts> {
  return sql<UsageFacts>`json_build_object(
    'counted', (select json_agg(counted) from (
      select ${usage.meter}, ${usage.since}, ${usage.used} from ${usage}
      where ${usage.organisationId} = ${organisationId}
        and (${usage.since} = 'epoch'::timestamptz or ${usage.since} >= ${now}::timestamptz - interval '370 days')
    ) as counted),
    'members', (select count(*)::int from ${memberships} where ${memberships.organisationId} = ${organisationId}))`;
}
