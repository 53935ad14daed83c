import { and, eq, ne } from 'drizzle-orm';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';

/** Returns the organisations whose only active owner is this user, with the number of other members. */
export async function solelyOwned(db: Executor, userId: string) {
  const owned = await db
    .select({ id: organisations.id, name: organisations.name, slug: organisations.slug })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner')));

  const alone = [];
  for (const organisation of owned) {
    const others = await db
      .select({ role: memberships.role, suspendedAt: users.suspendedAt })
      .from(memberships)
      .innerJoin(users, eq(users.id, memberships.userId))
      .where(and(eq(memberships.organisationId, organisation.id), ne(memberships.userId, userId)));
    // A suspended owner does not count as an owner.
    if (others.some(({ role, suspendedAt }) => role === 'owner' && suspendedAt === null)) continue;
    alone.push({ ...organisation, others: others.length });
  }
  return alone;
}

type Ending = {
  /** Whether organisations with other members end too. */
  withMembers?: boolean;
  /** The organisations that a page showed: no other one may end. */
  shown?: string[] | undefined;
};

/**
 * Returns the organisations that end with the user's account.
 *
 * @throws AppError VALIDATION if one of them has other members, unless `withMembers`; NOT_FOUND if
 *   one of them was not shown.
 */
export async function organisationsEndingWith(
  db: Executor,
  userId: string,
  { withMembers = false, shown }: Ending = {},
): Promise<string[]> {
  const owned = await solelyOwned(db, userId);
  if (shown !== undefined && owned.some(({ id }) => !shown.includes(id))) {
    throw new AppError('NOT_FOUND', 'What ends with your account has changed. Load the page again.');
  }
  const needed = owned.find(({ others }) => others > 0);
  if (needed !== undefined && !withMembers) {
    const name = needed.name ?? needed.slug;
    throw new AppError('VALIDATION', `${name} has other members. Make one of them an owner first.`);
  }
  return owned.map(({ id }) => id);
}
