import { and, asc, eq, isNull, or } from 'drizzle-orm';
import { lockUser } from '../accounts/profile/lock-user.ts';
import type { Executor, Transaction } from '../db/client.ts';
import { identities } from '../db/schema/accounts.ts';
import type { Identity } from './id-token.ts';

export type LinkedIdentity = typeof identities.$inferSelect;
type Subject = Pick<Identity, 'issuer' | 'subject'>;

/**
 * Returns the row of a subject, linked or unlinked, or null. A row that is older than the column
 * `issuer` gets the issuer of the first sign-in that names its subject.
 */
export async function findIdentity(tx: Transaction, { issuer, subject }: Subject): Promise<LinkedIdentity | null> {
  const [row] = await tx
    .select()
    .from(identities)
    .where(and(eq(identities.subject, subject), or(eq(identities.issuer, issuer), isNull(identities.issuer))))
    .orderBy(asc(identities.issuer))
    .limit(1);
  if (row === undefined) return null;
  if (row.issuer !== null) return row;

  await lockUser(tx, row.userId);
  const [named] = await tx
    .update(identities)
    .set({ issuer })
    .where(and(eq(identities.subject, subject), isNull(identities.issuer)))
    .returning();
  // A concurrent sign-in has updated the row, or the user was deleted.
  return named ?? findIdentity(tx, { issuer, subject });
}

/** Returns all subjects of a user. At most one is linked. */
export function identitiesOf(db: Executor, userId: string): Promise<LinkedIdentity[]> {
  return db.select().from(identities).where(eq(identities.userId, userId));
}

/**
 * Links a subject to a user. The constraints refuse a subject of another user and a second linked
 * subject.
 *
 * @throws Error if a constraint is violated.
 */
export async function linkIdentity(
  tx: Transaction,
  now: Date,
  { userId, issuer, subject }: Subject & { userId: string },
): Promise<void> {
  await tx.insert(identities).values({ userId, issuer, subject, linkedAt: now });
}
