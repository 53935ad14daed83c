import { eq } from 'drizzle-orm';
import type { Role, UserPrincipal } from '../auth/principal.ts';
import { requireExistingSession } from '../auth/sessions/session.ts';
import { lockOrganisation } from '../organisations/organisation.ts';
import type { Transaction } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { AppError } from '../platform/errors.ts';
import { type Message, message } from '../platform/messages.ts';

export type Members = Map<string, { role: Role; suspended: boolean }>;

/**
 * Locks an organisation until the transaction ends and returns its members. Changes of members run
 * in turn, so that two owners who demote each other at the same time see each other's change. A
 * transaction that also locks a user locks the user first.
 */
export async function lockMembers(tx: Transaction, organisationId: string): Promise<Members> {
  await lockOrganisation(tx, organisationId);
  const rows = await tx
    .select({ id: memberships.userId, role: memberships.role, suspendedAt: users.suspendedAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.organisationId, organisationId));
  return new Map(rows.map(({ id, role, suspendedAt }) => [id, { role, suspended: suspendedAt !== null }]));
}

/**
 * Returns the role of the user who makes a change, read under the lock, because a change that ran at the same time
 * may have demoted them or ended their session.
 *
 * @throws AppError FORBIDDEN if the role has no ADMIN; UNAUTHENTICATED if the session has ended.
 */
export async function requireAdministrator(tx: Transaction, members: Members, principal: UserPrincipal): Promise<Role> {
  const role = members.get(principal.user.id)?.role;
  if (role !== 'owner' && role !== 'admin') throw new AppError('FORBIDDEN', message('role_forbids'));
  await requireExistingSession(tx, principal);
  return role;
}

/** Returns a member's role. @throws AppError NOT_FOUND if the user is not a member. */
export function requireMember(members: Members, userId: string): Role {
  const member = members.get(userId);
  if (member === undefined) throw new AppError('NOT_FOUND', message('no_such_member'));
  return member.role;
}

/** @throws AppError FORBIDDEN, with a sentence that says what only owners do, if the role is not owner. */
export function requireOwner(role: Role | null, sentence: Message): void {
  if (role !== 'owner') throw new AppError('FORBIDDEN', sentence);
}

/** Whether the organisation has another owner. A suspended owner does not count. */
export function hasAnotherOwner(members: Members, userId: string): boolean {
  return [...members].some(([id, { role, suspended }]) => id !== userId && role === 'owner' && !suspended);
}

/** @throws AppError VALIDATION if there is no other owner. */
export function requireAnotherOwner(members: Members, userId: string): void {
  if (!hasAnotherOwner(members, userId)) throw new AppError('VALIDATION', message('last_owner'));
}
