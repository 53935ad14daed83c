import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { basicColumns } from '../../organisations/account-status.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';

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
      secondFactorFrom: organisations.secondFactorFrom,
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

/**
 * Makes an organisation the one that a session and the user's next sign-in act for. The choice
 * is ignored while the user is not a member of it or it is not approved.
 */
export async function chooseOrganisation(
  tx: Transaction,
  { userId, sessionId, organisationId }: { userId: string; sessionId: string; organisationId: string },
): Promise<void> {
  // The user's row is locked before the session's, in the order of every transaction.
  await tx.update(users).set({ lastOrganisationId: organisationId }).where(eq(users.id, userId));
  await tx
    .update(sessions)
    .set({ organisationId })
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, userId)));
}
