import { and, eq, inArray, isNull, ne, notExists, notInArray, or, type SQLWrapper, sql } from 'drizzle-orm';
import type { Transaction } from '../platform/db/client.ts';
import { addressChanges, oneTimeTokens, users, verificationLinks } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { sessions } from '../platform/db/schema/sessions.ts';

/**
 * Locks the members of organisations that are about to be closed, so that none of them gets a session or a link
 * meanwhile. To be called before the organisations are locked or changed, as with every lock of a user.
 */
export async function lockUsersIn(tx: Transaction, organisationIds: string[]): Promise<void> {
  await tx
    .select({ id: users.id })
    .from(users)
    .where(inArray(users.id, usersIn(tx, organisationIds)))
    .orderBy(users.id)
    .for('update');
}

/**
 * Ends the sessions in organisations that are closed, so that an old cookie does not work after they
 * are reopened. A member's session that acts for another organisation continues while that one may be used.
 */
export async function endSessionsIn(tx: Transaction, organisationIds: string[]): Promise<void> {
  if (organisationIds.length === 0) return;
  const elsewhere = tx
    .select({ id: organisations.id })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(
      and(
        eq(memberships.userId, sessions.userId),
        notInArray(organisations.id, organisationIds),
        ne(organisations.approval, 'declined'),
        isNull(organisations.suspendedAt),
      ),
    );
  const here = or(inArray(sessions.organisationId, organisationIds), isNull(sessions.organisationId));
  await tx
    .delete(sessions)
    .where(and(inArray(sessions.userId, usersIn(tx, organisationIds)), or(here, notExists(elsewhere))));
}

/** Ends the one-time links of the members of organisations that are closed, as `endLinksOf` does. */
export async function endLinksIn(tx: Transaction, organisationIds: string[], now: Date): Promise<void> {
  if (organisationIds.length > 0) await endLinksOf(tx, usersIn(tx, organisationIds), now);
}

/**
 * Ends the one-time links of users whose accounts are closed, and the forms on the links' pages: a link that gives
 * access must not work after the account is open again. The link of a sign-up stays valid, because it only proves the
 * address. The rows of mailed links stay, because the mail limits count them.
 */
export async function endLinksOf(tx: Transaction, userIds: SQLWrapper | string[], now: Date): Promise<void> {
  await tx.delete(oneTimeTokens).where(inArray(oneTimeTokens.userId, userIds));
  await tx.delete(addressChanges).where(inArray(addressChanges.userId, userIds));
  const at = sql`${now.toISOString()}::timestamptz`;
  await tx
    .update(verificationLinks)
    .set({ expiresAt: at })
    .where(
      and(
        inArray(verificationLinks.userId, userIds),
        ne(verificationLinks.purpose, 'sign-up'),
        sql`${verificationLinks.expiresAt} > ${at}`,
      ),
    );
}

function usersIn(tx: Transaction, organisationIds: string[]) {
  return tx
    .select({ id: memberships.userId })
    .from(memberships)
    .where(inArray(memberships.organisationId, organisationIds));
}
