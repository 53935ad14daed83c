import { and, eq, isNull } from 'drizzle-orm';
import type { ManagingKey } from '../../auth/principal.ts';
import { lockUser } from '../../auth/sessions/account.ts';
import { lockUsersIn } from '../../organisations/end-access.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import type { Actor } from '../actor.ts';
import { isOperator } from '../find-accounts.ts';

/** The actor of what an API key does: the key, and its maker. */
export type KeyActor = Actor & { keyId: string };

/** Returns the actor of what a key does. Only the check of a procedure makes a `ManagingKey`. */
export function byKey({ key }: ManagingKey, client: Client): KeyActor {
  return { actorId: key.createdBy, keyId: key.id, client };
}

/**
 * Locks a key that makes what lasts, a link or an invitation, until the transaction ends: a revocation either commits
 * first and is seen here, or waits and ends what was made. To be called after the locks of users and organisations.
 *
 * @throws AppError UNAUTHENTICATED if the key was revoked meanwhile.
 */
export async function lockKey(tx: Transaction, { key }: ManagingKey): Promise<void> {
  const valid = and(eq(apiKeys.id, key.id), isNull(apiKeys.revokedAt));
  const rows = await tx.select({ id: apiKeys.id }).from(apiKeys).where(valid).for('share');
  if (rows.length === 0) throw new AppError('UNAUTHENTICATED', message('send_key'));
}

/**
 * Locks a user whom a key changes. A key never touches an operator: it would turn into their power, or end those who
 * would end it.
 *
 * @throws AppError NOT_FOUND if there is no such user; FORBIDDEN for an operator.
 */
export async function lockManaged(tx: Transaction, userId: string): Promise<void> {
  if (!(await lockUser(tx, userId))) throw new AppError('NOT_FOUND', message('no_such_person'));
  await requireNoOperator(tx, userId);
}

/** @throws AppError FORBIDDEN for an operator. */
export async function requireNoOperator(db: Executor, userId: string): Promise<void> {
  if (await isOperator(db, userId)) throw touchesOperator();
}

/**
 * Locks the members of an organisation that a key closes, so that none of them becomes an operator or gets a session
 * meanwhile.
 *
 * @throws AppError FORBIDDEN for an organisation that operators alone own.
 */
export async function lockClosable(tx: Transaction, organisationId: string): Promise<void> {
  await lockUsersIn(tx, [organisationId]);
  await requireNotOperators(tx, organisationId);
}

/** A suspended owner does not count as one. @throws AppError FORBIDDEN for an organisation that operators alone own. */
export async function requireNotOperators(db: Executor, organisationId: string): Promise<void> {
  const owners = await db
    .select({ operator: users.operator, suspendedAt: users.suspendedAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.organisationId, organisationId), eq(memberships.role, 'owner')));
  const others = owners.filter(({ operator, suspendedAt }) => !operator && suspendedAt === null);
  if (others.length === 0 && owners.some(({ operator }) => operator)) throw touchesOperator();
}

function touchesOperator(): AppError {
  return new AppError('FORBIDDEN', 'An API key changes nothing of an operator.');
}

/** Returns the AppError for an action that the state of its subject does not allow. */
export function conflict(sentence: string, facts?: Record<string, unknown>): AppError {
  return new AppError('CONFLICT', sentence, facts && { facts });
}
