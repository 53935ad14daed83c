import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { users } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { organisationOf, type Principal, requireScope } from '../sessions/principal.ts';

/**
 * Returns the members of the principal's organisation, in the order in which they joined.
 *
 * @throws AppError UNAUTHENTICATED, NO_ORGANISATION; FORBIDDEN without READ.
 */
export async function listMembers(app: App, principal: Principal | null) {
  const organisation = organisationOf(requireScope(principal, 'READ'));

  const people = await app.db
    .select({
      id: users.id,
      email: users.email,
      name: users.name,
      role: memberships.role,
      joinedAt: memberships.createdAt,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.organisationId, organisation.id))
    .orderBy(memberships.createdAt, users.id);
  return people.map(({ joinedAt, ...person }) => ({ ...person, joined_at: joinedAt.toISOString() }));
}
