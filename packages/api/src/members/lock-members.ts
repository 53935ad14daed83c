import { eq } from 'drizzle-orm';
import type { Transaction } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { AppError } from '../errors.ts';
import { lockOrganisation } from '../organisations/lock.ts';
import type { Role } from '../sessions/principal.ts';

export type Members = Map<string, { role: Role; suspended: boolean }>;

/**
 * Makes changes to who belongs to an organisation, and as what, take turns until the
 * transaction ends, and answers how it is now: two owners who demote each other at once
 * see one another. A transaction that locks a user too locks that user first.
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

/** What somebody is now, who may have been demoted since they asked. @throws AppError FORBIDDEN */
export function requireAdministrator(members: Members, userId: string): Role {
  const role = members.get(userId)?.role;
  if (role !== 'owner' && role !== 'admin') throw new AppError('FORBIDDEN', 'Your role does not allow this.');
  return role;
}

/** @throws AppError NOT_FOUND */
export function requireMember(members: Members, userId: string): Role {
  const member = members.get(userId);
  if (member === undefined) throw new AppError('NOT_FOUND', 'There is no such member.');
  return member.role;
}

/** Only for owners. @throws AppError FORBIDDEN */
export function requireOwner(role: Role): void {
  if (role !== 'owner') throw new AppError('FORBIDDEN', 'Only an owner may make or unmake an owner.');
}

/** An owner who is suspended can look after nothing, so does not count. @throws AppError VALIDATION */
export function requireAnotherOwner(members: Members, userId: string): void {
  const others = [...members].filter(([id, { role, suspended }]) => id !== userId && role === 'owner' && !suspended);
  if (others.length === 0)
    throw new AppError('VALIDATION', 'An organisation needs an owner. Make somebody else one first.');
}
