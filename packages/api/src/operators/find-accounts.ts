import { and, eq, inArray } from 'drizzle-orm';
import type { Operator } from '../auth/principal.ts';
import { type Account, accountById, lockUser } from '../auth/sessions/account.ts';
import { requireExistingSession } from '../auth/sessions/session.ts';
import { nameColumns } from '../organisations/account-status.ts';
import type { Executor, Transaction } from '../platform/db/client.ts';
import { isUuid } from '../platform/db/id.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { AppError } from '../platform/errors.ts';
import { message } from '../platform/messages.ts';
import { readAddress } from '../platform/security/address.ts';

/**
 * Resolves an address, as an operator types it, or a user's id.
 *
 * @throws AppError NOT_FOUND if no user has this address or id.
 */
export async function findUser(db: Executor, typed: string): Promise<{ id: string; email: string }> {
  const email = readAddress(typed) ?? typed;
  const [user] = await db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(isUuid(typed) ? eq(users.id, typed) : eq(users.email, email));
  if (user === undefined) throw new AppError('NOT_FOUND', `There is no account with the address ${typed}.`);
  return user;
}

/**
 * Resolves the slug of an organisation.
 *
 * @throws AppError NOT_FOUND if no organisation has this slug.
 */
export async function findOrganisation(db: Executor, slug: string): Promise<{ id: string; slug: string }> {
  const [organisation] = await db
    .select({ id: organisations.id, slug: organisations.slug })
    .from(organisations)
    .where(eq(organisations.slug, slug));
  if (organisation === undefined) throw new AppError('NOT_FOUND', `There is no organisation with the slug ${slug}.`);
  return organisation;
}

/**
 * Locks an operator who makes what lasts, with other users that the transaction locks, in one order. The mark and the
 * session are read again: what ends them either commits first and is seen here, or waits and ends what was made.
 *
 * @throws AppError UNAUTHENTICATED if the session has ended; FORBIDDEN without the mark.
 */
export async function lockOperator(tx: Transaction, operator: Operator, otherIds: string[] = []): Promise<void> {
  const locked = await tx
    .select({ id: users.id, operator: users.operator })
    .from(users)
    .where(inArray(users.id, [operator.user.id, ...otherIds]))
    .orderBy(users.id)
    .for('update');
  await requireExistingSession(tx, operator);
  const own = locked.find(({ id }) => id === operator.user.id);
  if (!own?.operator) throw new AppError('FORBIDDEN', message('operators_only'));
}

/** Returns a user's id and address. @throws AppError NOT_FOUND if there is no such user. */
export async function readUser(db: Executor, userId: string): Promise<{ id: string; email: string }> {
  const [user] = await db.select({ id: users.id, email: users.email }).from(users).where(eq(users.id, userId));
  if (user === undefined) throw new AppError('NOT_FOUND', message('no_such_person'));
  return user;
}

/** Whether a user has the operator mark. */
export async function isOperator(db: Executor, userId: string): Promise<boolean> {
  return (await db.$count(users, and(eq(users.id, userId), eq(users.operator, true)))) > 0;
}

/** Returns an organisation's names. @throws AppError NOT_FOUND if there is no such organisation. */
export async function readOrganisationNames(
  db: Executor,
  organisationId: string,
): Promise<{ id: string; slug: string; name: string | null }> {
  const [organisation] = await db.select(nameColumns).from(organisations).where(eq(organisations.id, organisationId));
  if (organisation === undefined) throw new AppError('NOT_FOUND', message('no_such_organisation'));
  return organisation;
}

/**
 * Requires that a user's account is open and its address verified. Locks the user: until the transaction ends neither
 * the user nor an organisation of theirs can be closed.
 *
 * @returns the user.
 * @throws AppError NOT_FOUND; VALIDATION if the account is closed or its address is unverified.
 */
export async function requireVerified(tx: Transaction, userId: string): Promise<Account['user']> {
  await lockUser(tx, userId);
  const account = await accountById(tx, userId);
  if (account === null) throw new AppError('NOT_FOUND', message('no_such_person'));

  const { email } = account.user;
  if (account.accountStatus === 'closed') throw new AppError('VALIDATION', message('account_of_closed', { email }));
  if (account.accountStatus === 'unverified') {
    throw new AppError('VALIDATION', message('address_unconfirmed', { email }));
  }
  return account.user;
}
