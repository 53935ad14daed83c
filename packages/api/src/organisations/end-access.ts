import { and, eq, inArray, isNotNull, isNull, ne, notInArray, or, type SQLWrapper, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { Transaction } from '../platform/db/client.ts';
import {
  addressChanges,
  knownBrowsers,
  oneTimeTokens,
  users,
  verificationLinks,
} from '../platform/db/schema/accounts.ts';
import { stepAttempts } from '../platform/db/schema/factors.ts';
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
 * are reopened. A member's session that acts for another organisation continues while that one may be used. Of members
 * without another one all sessions end, and with them the attempts between two steps of a sign-in, and trust in browsers.
 */
export async function endSessionsIn(tx: Transaction, organisationIds: string[], now: Date): Promise<void> {
  if (organisationIds.length === 0) return;
  const elsewhere = tx
    .select({ id: memberships.userId })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(
      and(
        inArray(memberships.userId, usersIn(tx, organisationIds)),
        notInArray(organisations.id, organisationIds),
        ne(organisations.approval, 'declined'),
        isNull(organisations.suspendedAt),
      ),
    );
  const isMember = (column: AnyPgColumn) => inArray(column, usersIn(tx, organisationIds));
  const isClosed = (column: AnyPgColumn) => and(isMember(column), notInArray(column, elsewhere));
  const here = or(inArray(sessions.organisationId, organisationIds), isNull(sessions.organisationId));
  await tx.delete(sessions).where(or(and(isMember(sessions.userId), here), isClosed(sessions.userId)));
  await tx
    .update(stepAttempts)
    .set({ endedAt: now })
    .where(and(isClosed(stepAttempts.userId), isNull(stepAttempts.endedAt)));
  await tx
    .update(knownBrowsers)
    .set({ trustedUntil: null })
    .where(and(isClosed(knownBrowsers.userId), isNotNull(knownBrowsers.trustedUntil)));
}

/** Ends the one-time links of the members of organisations that are closed, as `endLinksOf` does. */
export async function endLinksIn(tx: Transaction, organisationIds: string[], now: Date): Promise<void> {
  if (organisationIds.length > 0) await endLinksOf(tx, usersIn(tx, organisationIds), now, { keepsSignUps: true });
}

/**
 * Ends the one-time links of users whose accounts are closed, and the forms on the links' pages: a link that gives
 * access must not work after the account is open again. With `keepsSignUps` the link of a sign-up stays valid while the
 * address is not verified, because it only proves that. The rows of mailed links stay, because the mail limits count them.
 */
export async function endLinksOf(
  tx: Transaction,
  userIds: SQLWrapper | string[],
  now: Date,
  { keepsSignUps = false } = {},
): Promise<void> {
  await tx.delete(oneTimeTokens).where(inArray(oneTimeTokens.userId, userIds));
  await tx.delete(addressChanges).where(inArray(addressChanges.userId, userIds));
  const at = sql`${now.toISOString()}::timestamptz`;
  const verified = tx.select({ id: users.id }).from(users).where(isNotNull(users.emailVerifiedAt));
  await tx
    .update(verificationLinks)
    .set({ expiresAt: at })
    .where(
      and(
        inArray(verificationLinks.userId, userIds),
        keepsSignUps
          ? or(ne(verificationLinks.purpose, 'sign-up'), inArray(verificationLinks.userId, verified))
          : undefined,
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
