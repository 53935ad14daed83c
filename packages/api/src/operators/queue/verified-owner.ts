import { and, eq, isNotNull } from 'drizzle-orm';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';

/**
 * Returns the lateral subquery of an organisation's first owner with a verified address. An organisation whose approval
 * was undone may have several owners; the queue lists it once. Because of the limit PostgreSQL looks owners up one
 * organisation at a time, in the order of the queue: joins of whole tables would take longer the more users there are.
 * The subquery has the name of the table, so that the columns of evidence can read either.
 */
export function verifiedOwner(db: Executor) {
  const isOwner = and(eq(memberships.organisationId, organisations.id), eq(memberships.role, 'owner'));
  return db
    .select({ id: users.id, email: users.email, name: users.name, emailVerifiedAt: users.emailVerifiedAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(isOwner, isNotNull(users.emailVerifiedAt)))
    .orderBy(memberships.userId)
    .limit(1)
    .as('users');
}

export type VerifiedOwner = ReturnType<typeof verifiedOwner>;
