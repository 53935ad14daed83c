import { eq, inArray, or } from 'drizzle-orm';
import type { Transaction } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';

type PlannedDeletion = {
  /** The organisations that will be deleted. */
  ending: string[];
  /** A user who will be deleted, with the memberships and the address that organisations send their bills to. */
  userId?: string;
};

/**
 * Locks every user whose row the deletion changes, in one order, and then every organisation: a member who joins,
 * switches or leaves also locks the user first, so that none of them deadlocks. A concurrent join waits and then finds
 * no organisation; another owner who leaves waits too, so that one of the two stays. Returns the user who will be
 * deleted; null if there is none.
 *
 * @throws AppError BUSY if a user joined meanwhile.
 */
export async function lockForDeletion(
  tx: Transaction,
  { ending, userId }: PlannedDeletion,
): Promise<{ id: string; email: string } | null> {
  const locked = await concerned(tx, { ending, userId }).orderBy(users.id).for('update');
  const user = locked.find(({ id }) => id === userId) ?? null;
  await lockOrganisations(tx, { ending, user });

  const ids = new Set(locked.map(({ id }) => id));
  const now = await concerned(tx, { ending, userId });
  if (now.some(({ id }) => !ids.has(id))) throw organisationsChanged();
  return user;
}

/** Returns the AppError BUSY for a concurrent change of the user's organisations. */
export function organisationsChanged(): AppError {
  return new AppError('BUSY', 'The organisations changed meanwhile. Try again.', { retryAfterSeconds: 1 });
}

type LockedUser = { id: string; email: string } | null;

async function lockOrganisations(tx: Transaction, { ending, user }: { ending: string[]; user: LockedUser }) {
  const owned = tx
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, user?.id ?? ''));
  const billed = tx
    .select({ id: paymentCustomers.organisationId })
    .from(paymentCustomers)
    .where(eq(paymentCustomers.contactEmail, user?.email ?? ''));
  const ofUser = [
    inArray(organisations.id, owned),
    eq(organisations.billingEmail, user?.email ?? ''),
    inArray(organisations.id, billed),
  ];
  await tx
    .select({ id: organisations.id })
    .from(organisations)
    .where(or(inArray(organisations.id, ending), ...(user === null ? [] : ofUser)))
    .orderBy(organisations.id)
    .for('update');
}

function concerned(tx: Transaction, { ending, userId }: PlannedDeletion) {
  const members = tx
    .select({ id: memberships.userId })
    .from(memberships)
    .where(inArray(memberships.organisationId, ending));
  return tx
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(
      or(
        inArray(users.lastOrganisationId, ending),
        inArray(users.id, members),
        userId === undefined ? undefined : eq(users.id, userId),
      ),
    );
}
