import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { basicColumns } from '../organisations/basic-columns.ts';

/**
 * Builds the lateral subquery of the organisation that a user acts for: the preferred one if it
 * is still approved, else the first approved one, else any. So a membership that ended is
 * replaced on the next request.
 */
export function currentOrganisation(db: Executor, userId: SQL, preferredId: SQL) {
  const approved = and(eq(organisations.approval, 'approved'), isNull(organisations.suspendedAt));

  return db
    .select({
      ...basicColumns,
      role: memberships.role,
      lastSeenAt: memberships.lastSeenAt,
    })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(eq(memberships.userId, userId))
    .orderBy(
      desc(sql`${approved}`),
      desc(sql`${organisations.id} is not distinct from ${preferredId}`),
      memberships.createdAt,
      organisations.id,
    )
    .limit(1)
    .as('current_organisation');
}
