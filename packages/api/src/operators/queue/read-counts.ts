import { and, eq, gte, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { users } from '../../db/schema/accounts.ts';
import { memberships } from '../../db/schema/members.ts';
import { organisations } from '../../db/schema/organisations.ts';

const weekMilliseconds = 7 * 86_400_000;

/** Counting ends here, so that a page costs the same however many rows there are. A page says "1,000+". */
export const mostCounted = 1000;

type Conditions = { waiting: SQL | undefined; withoutOrganisation: SQL | undefined };

/** Counts the requests that wait and those approved within a week, each up to `mostCounted`. */
export async function readCounts(app: App, { waiting, withoutOrganisation }: Conditions) {
  const since = new Date(app.now().getTime() - weekMilliseconds);
  const one = { one: sql`1` };
  const isOwner = and(eq(memberships.organisationId, organisations.id), eq(memberships.role, 'owner'));

  const open = app.db
    .select(one)
    .from(organisations)
    .innerJoin(memberships, isOwner)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(waiting)
    .limit(mostCounted);
  const alone = app.db.select(one).from(users).where(withoutOrganisation).limit(mostCounted);
  const approved = app.db
    .select(one)
    .from(organisations)
    .where(gte(organisations.approvedAt, since))
    .limit(mostCounted);
  const [row] = await app.db.execute<{ open: number; alone: number; approved: number }>(sql`
    select (select count(*)::int from ${open} as counted) as open,
      (select count(*)::int from ${alone} as counted) as alone,
      (select count(*)::int from ${approved} as counted) as approved`);

  const all = Math.min(mostCounted, (row?.open ?? 0) + (row?.alone ?? 0));
  return { waiting: all, approved_this_week: row?.approved ?? 0, most: mostCounted };
}
