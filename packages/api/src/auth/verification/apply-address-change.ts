import { and, eq, isNull, ne } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordChange } from '../../changes/record-change.ts';
import { deleteWithoutMembers } from '../../organisations/delete-without-members.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { users, type verificationLinks } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { isSqlState } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { endInvitations } from '../password/end-invitations.ts';
import { lockUser } from '../profile/lock-user.ts';
import { accountByEmail, accountById } from '../sessions/account.ts';
import { endLinks, endPageTokens } from './end-links.ts';
import { invalidLink } from './invalid-link.ts';

type Link = typeof verificationLinks.$inferSelect;

/**
 * Gives a user the address to which a link for a change was mailed, and ends their other
 * sessions: the one that asked for it stays. An account that was created with this address and
 * never verified is deleted, as it would be after a week: the holder of the link has the
 * mailbox. Links to the old address and the invitations that the ended sessions created end too.
 *
 * @throws AppError VALIDATION if the account is closed, or the address belongs to another one.
 */
export async function applyAddressChange(app: App, tx: Transaction, link: Link, client: Client): Promise<void> {
  const { userId, email, keptSessionId } = link;
  const unverified = await requireFreeAddress(tx, link);

  if (unverified !== null) await deleteUnverified(tx, unverified.user.id);
  await setAddress(tx, userId, email);
  const others = keptSessionId === null ? undefined : ne(sessions.id, keptSessionId);
  await tx.delete(sessions).where(and(eq(sessions.userId, userId), others));
  await endInvitations(tx, userId, keptSessionId);
  await endLinks(tx, userId, app.now(), link);
  await endPageTokens(tx, userId);
  await recordAudit(tx, app.now(), { action: 'address-changed', actorId: userId, userId, client });
  await recordChange(tx, app.now(), { type: 'user.email_changed', userId, data: { email } });
}

/** Whether a link for a change of address can still give its address to its user. */
export async function isFreeAddress(tx: Transaction, link: Link): Promise<boolean> {
  return (await readOtherAccount(tx, link)) !== 'taken';
}

/**
 * Checks that a link can still give its address to its user.
 *
 * @returns the locked account that has the address without having verified it, or null.
 * @throws AppError VALIDATION if the account is closed, or the address belongs to another one.
 */
export async function requireFreeAddress(tx: Transaction, link: Link) {
  const other = await readOtherAccount(tx, link);
  if (other === 'taken') throw invalidLink();
  return other;
}

async function readOtherAccount(tx: Transaction, { userId, email }: Link) {
  const other = await lockAccount(tx, email);
  const account = await accountById(tx, userId);
  if (account === null || account.accountStatus === 'closed') return 'taken';
  if (other === null || other.user.id === userId) return null;
  return other.accountStatus === 'unverified' ? other : 'taken';
}

/** Locks the account that has the address, because it may be verified concurrently. */
async function lockAccount(tx: Transaction, email: string) {
  const found = await accountByEmail(tx, email);
  if (found === null || !(await lockUser(tx, found.user.id))) return null;
  return accountByEmail(tx, email);
}

async function deleteUnverified(tx: Transaction, userId: string): Promise<void> {
  const owned = await tx
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, userId));
  await tx.delete(users).where(and(eq(users.id, userId), isNull(users.emailVerifiedAt)));
  await deleteWithoutMembers(
    tx,
    owned.map(({ id }) => id),
  );
}

/** The unique constraint refuses an address that another account took concurrently. */
async function setAddress(tx: Transaction, userId: string, email: string): Promise<void> {
  try {
    await tx.transaction((savepoint) => savepoint.update(users).set({ email }).where(eq(users.id, userId)));
  } catch (error) {
    throw isSqlState(error, '23505') ? invalidLink() : error;
  }
}
