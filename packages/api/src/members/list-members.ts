import { and, asc, count, eq, gt, ilike, ne, or, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { App } from '../app.ts';
import type { Approved, Holding, Principal, Reader } from '../auth/principal.ts';
import { readableTarget, targetField } from '../auth/sessions/target-organisation.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { AppError } from '../platform/errors.ts';
import { message, zodMessage } from '../platform/messages.ts';
import { addressSearchTexts } from '../platform/security/address.ts';
import { idAfter, keysetInput, keysetPageOf, pageOf } from '../platform/security/keyset-pagination.ts';
import { freeLine, partOf } from '../platform/security/text.ts';
import { afterCursor, cursorOf } from '../platform/security/time-cursor.ts';

/** The members of one page. */
const pageSize = 50;

export const listMembersInput = z
  .object({
    search: freeLine(100).optional(),
    /** `next` of the page before. */
    after: z.string(zodMessage('no_such_page')).optional(),
  })
  .optional();

/**
 * Returns a page of the members of the principal's organisation, in the order in which they
 * joined. `total` counts all members, `found` those that the search matches, and `next` is null
 * on the last page. Only administrators see when a member was last seen, and who invited a
 * member; the inviter is named only while also a member.
 *
 * @throws AppError NO_ORGANISATION; VALIDATION for an unreadable `after`.
 */
export async function listMembers(app: App, principal: Reader, input: z.output<typeof listMembersInput>) {
  const { id: organisationId } = principal.requireOrganisation();
  const administers = principal.scopes.includes('ADMIN');
  const after = afterCursor(memberships.createdAt, memberships.userId, input?.after);
  if (input?.after !== undefined && after === undefined) throw new AppError('VALIDATION', message('no_such_page'));

  const own = eq(memberships.organisationId, organisationId);
  const matching = and(own, matches(input?.search));
  const inviter = alias(users, 'inviter');
  const inviterMembership = alias(memberships, 'inviter_membership');
  const rows = await app.db
    .select({
      id: users.id,
      email: users.email,
      name: users.name,
      role: memberships.role,
      joinedAt: memberships.createdAt,
      lastSeenAt: memberships.lastSeenAt,
      inviter: { email: inviter.email, name: inviter.name },
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .leftJoin(
      inviterMembership,
      and(
        eq(inviterMembership.userId, memberships.invitedBy),
        eq(inviterMembership.organisationId, memberships.organisationId),
      ),
    )
    .leftJoin(inviter, eq(inviter.id, inviterMembership.userId))
    .where(and(matching, after))
    .orderBy(memberships.createdAt, memberships.userId)
    .limit(pageSize + 1);

  const { page, next } = pageOf(rows, pageSize, ({ joinedAt, id }) => cursorOf(joinedAt, id));
  const [counts] = await app.db
    .select({ total: count(), found: sql<number>`count(*) filter (where ${matches(input?.search) ?? sql`true`})::int` })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(own);
  return {
    members: page.map(({ id, email, name, role, joinedAt, lastSeenAt, inviter }) => ({
      id,
      email,
      name,
      role,
      joined_at: joinedAt.toISOString(),
      last_seen_at: administers ? (lastSeenAt?.toISOString() ?? null) : null,
      invited_by: administers ? inviter : null,
    })),
    total: counts?.total ?? 0,
    found: counts?.found ?? 0,
    next,
    is_only_owner: await isOnlyOwner(app, principal),
  };
}

function matches(search: string | undefined): SQL | undefined {
  if (!search) return undefined;
  const addresses = addressSearchTexts(search).map((text) => ilike(users.email, partOf(text)));
  return or(ilike(users.name, partOf(search)), ...addresses);
}

/** Whether the principal is the only owner of the organisation who is not suspended. @throws AppError NO_ORGANISATION. */
export async function isOnlyOwner(app: App, principal: Approved): Promise<boolean> {
  const { id: organisationId } = principal.requireOrganisation();
  if (principal.role !== 'owner') return false;
  const owners = await app.db
    .select({ suspendedAt: users.suspendedAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.organisationId, organisationId),
        eq(memberships.role, 'owner'),
        ne(memberships.userId, principal.user.id),
      ),
    );
  return owners.every(({ suspendedAt }) => suspendedAt !== null);
}

export const membersOfInput = keysetInput.extend({ organisation: targetField });

/**
 * Returns a page of an organisation's members for the company's services. `next` is null on the
 * last page.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND for an unknown organisation, or one that the principal
 *   does not act for; VALIDATION for an unreadable `after`.
 */
export async function listMembersOf(
  app: App,
  principal: Principal & Holding<'READ'>,
  input: z.output<typeof membersOfInput>,
) {
  const after = idAfter(input);
  const { organisationId } = await readableTarget(app, principal, input.organisation);

  const rows = await app.db
    .select({ id: users.id, email: users.email, name: users.name, role: memberships.role })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(eq(memberships.organisationId, organisationId), after === null ? undefined : gt(memberships.userId, after)),
    )
    .orderBy(asc(memberships.userId))
    .limit(input.limit + 1);

  const { page, next } = keysetPageOf(rows, input.limit);
  return { members: page.map(({ role, ...user }) => ({ user, role })), next };
}
