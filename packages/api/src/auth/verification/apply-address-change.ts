import { and, eq, gt, isNull, ne } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordChange } from '../../changes/record-change.ts';
import { deleteWithoutMembers } from '../../organisations/delete-without-members.ts';
import { type Ended, endStarted } from '../../organisations/started.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { oneTimeTokens, signUps, users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { isSqlState } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { lockUser } from '../profile/lock-user.ts';
import { type Account, accountByEmail, accountById } from '../sessions/account.ts';
import { endLinks } from './end-links.ts';
import { invalidLink } from './outcome.ts';

type Link = typeof verificationLinks.$inferSelect;

/**
 * Gives a user the address to which a link for a change was mailed, and ends their other sessions, with the invitations
 * and password links that they made, and every link of theirs. API keys stay, unless the user says otherwise. `kept` is
 * the session that goes on: the one that asked, where the link was opened in a session of the user. Returns what ended.
 *
 * @throws AppError VALIDATION if the account is closed, or the address is taken.
 */
export async function applyAddressChange(
  app: App,
  tx: Transaction,
  link: Link,
  { kept, revokesKeys = false, client }: { kept: string | null; revokesKeys?: boolean | undefined; client: Client },
): Promise<Ended> {
  const { userId, email } = link;
  const unverified = await requireFreeAddress(app, tx, link);

  if (unverified !== null) await deleteUnverified(tx, unverified.user.id);
  await setAddress(tx, userId, email);
  const others = kept === null ? undefined : ne(sessions.id, kept);
  await tx.delete(sessions).where(and(eq(sessions.userId, userId), others));
  const keys = revokesKeys ? 'revoke' : 'keep';
  const actor = { actorId: userId, client };
  const ended = await endStarted(tx, app.now(), { userId, of: 'everything', keys, actor });
  await endLinks(tx, userId, app.now(), link);
  await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, userId));
  await recordAudit(tx, app.now(), { action: 'address-changed', actorId: userId, userId, client });
  await recordChange(tx, app.now(), { type: 'user.email_changed', userId, data: { email } });
  return ended;
}

/** Whether a link for a change of address can still give its address to its user. */
export async function isFreeAddress(app: App, tx: Transaction, link: Link): Promise<boolean> {
  return (await readOtherAccount(app, tx, link)) !== 'taken';
}

/**
 * Checks that a link can still give its address to its user.
 *
 * @returns the locked account that has the address without having verified it, or null.
 * @throws AppError VALIDATION if the account is closed, or the address belongs to another one.
 */
export async function requireFreeAddress(app: App, tx: Transaction, link: Link) {
  const other = await readOtherAccount(app, tx, link);
  if (other === 'taken') throw invalidLink();
  return other;
}

async function readOtherAccount(app: App, tx: Transaction, { userId, email }: Link) {
  const other = await lockAccount(tx, email);
  const account = await accountById(tx, userId);
  if (account === null || account.accountStatus === 'closed') return 'taken';
  if (other === null || other.user.id === userId) return null;
  return (await isTaken(app, tx, other)) ? 'taken' : other;
}

/**
 * Whether nobody else can be given the address of an account: it is verified, or a sign-up with it can still be
 * confirmed. Otherwise its owner, who opens a stranger's link by mistake, would lose their own sign-up.
 */
export async function isTaken(app: App, db: Executor, { user, accountStatus }: Account): Promise<boolean> {
  if (accountStatus !== 'unverified') return true;

  const now = app.now();
  const ofUser = and(eq(verificationLinks.userId, user.id), eq(verificationLinks.purpose, 'sign-up'));
  const open = and(ofUser, isNull(verificationLinks.usedAt), gt(verificationLinks.expiresAt, now));
  if ((await db.$count(verificationLinks, open)) > 0) return true;
  // The link of a sign-up may not have been mailed yet.
  const oldest = new Date(now.getTime() - app.config.verificationTtlSeconds * 1000);
  const pending = and(eq(signUps.userId, user.id), isNull(signUps.usedAt), gt(signUps.createdAt, oldest));
  return (await db.$count(signUps, pending)) > 0;
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
