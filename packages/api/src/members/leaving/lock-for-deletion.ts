import { eq, inArray, or } from 'drizzle-orm';
import type { Transaction } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';

type PlannedDeletion = {
  /** The organisations that will be deleted. */
  ending: string[];
  /** A user whose organisations are locked too. */
  userId?: string;
};

/**
 * Locks every user whose row the deletion of organisations changes, in one order, and then the
 * organisations, with those that `userId` owns: a member who joins, switches or leaves also locks
 * the user first, so that none of them deadlocks. A concurrent join waits and then finds no
 * organisation; another owner who leaves waits too, so that one of the two stays.
 *
 * @throws AppError BUSY if a user joined meanwhile.
 */
export async function lockForDeletion(tx: Transaction, { ending, userId }: PlannedDeletion): Promise<void> {
  const locked = new Set((await concerned(tx, { ending, userId }).orderBy(users.id).for('update')).map(({ id }) => id));
  await lockOrganisations(tx, { ending, userId });

  const now = await concerned(tx, { ending, userId });
  if (now.some(({ id }) => !locked.has(id))) throw organisationsChanged();
}

/** Returns the AppError BUSY for a concurrent change of the user's organisations. */
export function organisationsChanged(): AppError {
  return new AppError('BUSY', 'The organisations changed meanwhile. Try again.', { retryAfterSeconds: 1 });
}

async function lockOrganisations(tx: Transaction, { ending, userId }: PlannedDeletion): Promise<void> {
  const owned =
    userId === undefined
      ? []
      : await tx.select({ id: memberships.organisationId }).from(memberships).where(eq(memberships.userId, userId));
  await tx
    .select({ id: organisations.id })
    .from(organisations)
    .where(inArray(organisations.id, [...ending, ...owned.map(({ id }) => id)]))
    .orderBy(organisations.id)
    .for('update');
}

function concerned(tx: Transaction, { ending, userId }: PlannedDeletion) {
  const members = tx
    .select({ id: memberships.userId })
    .from(memberships)
    .where(inArray(memberships.organisationId, ending));
  return tx
    .select({ id: users.id })
    .from(users)
    .where(
      or(
        inArray(users.lastOrganisationId, ending),
        inArray(users.id, members),
        userId === undefined ? undefined : eq(users.id, userId),
      ),
    );
}
