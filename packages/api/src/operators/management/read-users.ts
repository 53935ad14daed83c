import { and, asc, eq, gt, inArray, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { ManagingKey } from '../../auth/principal.ts';
import { approvalOf, basicColumns, isVerified } from '../../organisations/account-status.ts';
import type { Executor } from '../../platform/db/client.ts';
import { isUuid } from '../../platform/db/id.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { emailField } from '../../platform/security/address.ts';
import { idAfter, keysetInput, keysetPageOf } from '../../platform/security/keyset-pagination.ts';

/** The id stands in the path: a text that is no id names nobody. */
export const userIdInput = z.strictObject({ user_id: z.string() });
export const listUsersInput = keysetInput.extend({ email: emailField.optional() });

export type UserStatus = 'suspended' | 'unverified' | 'active' | 'awaiting_approval' | 'declined';
export type ManagedUser = {
  id: string;
  email: string;
  name: string | null;
  status: UserStatus;
  verified: boolean;
  created_at: string;
};

/**
 * Returns a page of the users, or the one with an address. `next` is null on the last page.
 *
 * @throws AppError VALIDATION for an unreadable `after` or address.
 */
export async function listManagedUsers(app: App, _key: ManagingKey, input: z.output<typeof listUsersInput>) {
  const after = idAfter(input);
  const rows = await app.db
    .select()
    .from(users)
    .where(
      and(
        input.email === undefined ? undefined : eq(users.email, input.email),
        after === null ? undefined : gt(users.id, after),
      ),
    )
    .orderBy(asc(users.id))
    .limit(input.limit + 1);

  const { page, next } = keysetPageOf(rows, input.limit);
  const approvals = await readMemberships(
    app.db,
    page.map(({ id }) => id),
  );
  return { users: page.map((user) => shownUser(user, approvals.get(user.id) ?? [])), next };
}

/** Returns a user with their organisations and the linked identity. @throws AppError NOT_FOUND. */
export async function readManagedUser(app: App, _key: ManagingKey, { user_id }: z.output<typeof userIdInput>) {
  const userId = idOf(user_id);
  const user = await readUser(app.db, userId);
  const joined = (await readMemberships(app.db, [userId])).get(userId) ?? [];
  const [identity] = await app.db
    .select({ issuer: identities.issuer, subject: identities.subject })
    .from(identities)
    .where(and(eq(identities.userId, userId), isNull(identities.unlinkedAt)));
  return {
    ...user,
    organisations: joined
      .filter(({ known }) => known)
      .map(({ organisation: { id, slug, name }, role }) => ({ id, slug, name, role })),
    identity: identity ?? null,
  };
}

/** Returns the id that a path names. @throws AppError NOT_FOUND for a text that is no id. */
export function idOf(text: string): string {
  if (!isUuid(text)) throw new AppError('NOT_FOUND', message('no_such_person'));
  return text.toLowerCase();
}

/** Returns a user as the API shows one. @throws AppError NOT_FOUND. */
export async function readUser(db: Executor, userId: string): Promise<ManagedUser> {
  const [user] = await db.select().from(users).where(eq(users.id, userId));
  if (user === undefined) throw new AppError('NOT_FOUND', message('no_such_person'));
  return shownUser(user, (await readMemberships(db, [userId])).get(userId) ?? []);
}

type Membership = Awaited<ReturnType<typeof membershipsOf>>[number];

async function readMemberships(db: Executor, userIds: string[]): Promise<Map<string, Membership[]>> {
  const all = await membershipsOf(db, userIds);
  return new Map(userIds.map((id) => [id, all.filter(({ userId }) => userId === id)]));
}

function membershipsOf(db: Executor, userIds: string[]) {
  return db
    .select({
      userId: memberships.userId,
      role: memberships.role,
      organisation: basicColumns,
      known: isVerified().mapWith(Boolean),
    })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(inArray(memberships.userId, userIds))
    .orderBy(asc(memberships.createdAt), asc(organisations.id));
}

function shownUser(user: typeof users.$inferSelect, joined: Membership[]): ManagedUser {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    status: statusOf(user, joined),
    verified: user.emailVerifiedAt !== null,
    created_at: user.createdAt.toISOString(),
  };
}

/** The status of a user: their own, else that of the best of their organisations; active without one. */
function statusOf({ suspendedAt, emailVerifiedAt }: typeof users.$inferSelect, joined: Membership[]): UserStatus {
  if (suspendedAt !== null) return 'suspended';
  if (emailVerifiedAt === null) return 'unverified';
  const approvals = joined.map(({ organisation }) => approvalOf(organisation));
  if (approvals.length === 0 || approvals.includes('approved')) return 'active';
  if (approvals.includes('pending')) return 'awaiting_approval';
  return approvals.includes('suspended') ? 'suspended' : 'declined';
}
