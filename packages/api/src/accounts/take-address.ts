import { and, eq, isNull, ne } from 'drizzle-orm';
import type { App } from '../app.ts';
import { record } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { memberships, sessions, users, type verificationLinks } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import { deleteDeserted } from '../organisations/delete-deserted.ts';
import { isUniqueViolation } from '../organisations/rename.ts';
import { personByEmail, personById } from '../sessions/person.ts';
import { endInvitations } from './end-invitations.ts';
import { lockUser } from './lock-user.ts';

/**
 * Gives a person the address to which a link for a change was mailed, and ends their
 * sessions but the one that asked for it, with the invitations that they made. An account that somebody made with this
 * address and never proved goes, as it would by itself after a week: whoever opens the
 * link has the mailbox.
 *
 * @throws Refusal VALIDATION where the account is closed, or the address belongs to another one.
 */
export async function takeAddress(
  app: App,
  tx: Transaction,
  { userId, email, keptSessionId }: typeof verificationLinks.$inferSelect,
  client: { address: string; userAgent: string | null },
): Promise<void> {
  const holder = await lockHolder(tx, email);
  const person = await personById(tx, userId);
  const free = holder === null || holder.user.id === userId || holder.standing === 'unverified';
  if (person === null || person.standing === 'closed' || !free) throw notValid();

  if (holder?.standing === 'unverified') await deleteUnproven(tx, holder.user.id);
  await setAddress(tx, userId, email);
  const others = keptSessionId === null ? undefined : ne(sessions.id, keptSessionId);
  await tx.delete(sessions).where(and(eq(sessions.userId, userId), others));
  await endInvitations(tx, userId, keptSessionId);
  await record(tx, app.now(), { action: 'address-changed', actorId: userId, userId, client });
}

/** The account that has the address now, if any, locked: it may be proving itself just now. */
async function lockHolder(tx: Transaction, email: string) {
  const found = await personByEmail(tx, email);
  if (found === null || !(await lockUser(tx, found.user.id))) return null;
  return personByEmail(tx, email);
}

async function deleteUnproven(tx: Transaction, userId: string): Promise<void> {
  const owned = await tx
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, userId));
  await tx.delete(users).where(and(eq(users.id, userId), isNull(users.emailVerifiedAt)));
  await deleteDeserted(
    tx,
    owned.map(({ id }) => id),
  );
}

/** The constraint decides against whoever takes the same address meanwhile. */
async function setAddress(tx: Transaction, userId: string, email: string): Promise<void> {
  try {
    await tx.transaction((savepoint) => savepoint.update(users).set({ email }).where(eq(users.id, userId)));
  } catch (error) {
    throw isUniqueViolation(error) ? notValid() : error;
  }
}

function notValid(): Refusal {
  return new Refusal('VALIDATION', 'This link is not valid.');
}
