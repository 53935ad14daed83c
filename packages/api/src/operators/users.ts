import { asc, eq, ilike, or } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { readHistory } from '../audit/read-activity.ts';
import { users } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { AppError } from '../errors.ts';
import { accountStatusOf } from '../organisations/account-status.ts';
import { addressSearchTexts } from '../security/address.ts';
import type { Client } from '../security/client.ts';
import { freeLine, partOf } from '../security/text.ts';
import type { Operator } from '../sessions/authorisation.ts';
import { readUser } from './find-accounts.ts';
import { makePasswordLink } from './make-password-link.ts';
import { restoreUser, suspendUser } from './suspend-user.ts';

const mostRows = 50;
const mostEntries = 200;

export const usersInput = z.object({ search: freeLine(100) });
export const userInput = z.object({ user_id: z.uuid('There is no such person.') });

/** Finds users by a part of their address or name, with their account status. An empty search finds none. */
export async function findUsers(app: App, _operator: Operator, { search }: z.output<typeof usersInput>) {
  if (search === '') return [];

  const rows = await app.db
    .select({ user: users, organisation: organisations, role: memberships.role })
    .from(users)
    .leftJoin(memberships, eq(memberships.userId, users.id))
    .leftJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(
      or(
        ...addressSearchTexts(search).map((text) => ilike(users.email, partOf(text))),
        ilike(users.name, partOf(search)),
      ),
    )
    .orderBy(asc(users.email), asc(memberships.createdAt))
    .limit(mostRows);

  return rows.map(({ user, organisation, role }) => ({
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      operator: user.operator,
      suspended: user.suspendedAt !== null,
      created_at: user.createdAt.toISOString(),
    },
    organisation: organisation && { id: organisation.id, slug: organisation.slug, name: organisation.name },
    role,
    accountStatus: accountStatusOf(user, organisation),
  }));
}

/**
 * Returns a user's address and the newest audit entries about the user.
 *
 * @throws AppError NOT_FOUND if there is no such user.
 */
export async function readUserHistory(app: App, _operator: Operator, { user_id: id }: z.output<typeof userInput>) {
  const { email } = await readUser(app.db, id);
  return { email, activity: await readHistory(app.db, id, mostEntries) };
}

/**
 * Makes a password link, which the operator gives to the user: no mail carries it.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the account is closed or its address is unverified.
 */
export async function makeLinkFor(
  app: App,
  principal: Operator,
  { user_id: id }: z.output<typeof userInput>,
  client: Client,
) {
  const { user } = principal;
  return { url: await makePasswordLink(app, { userId: id }, { actorId: user.id, client }) };
}

/**
 * Suspends a user.
 *
 * @throws AppError NOT_FOUND; VALIDATION for the operator's own account, or if it is suspended already.
 */
export async function suspendInConsole(
  app: App,
  principal: Operator,
  { user_id: id }: z.output<typeof userInput>,
  client: Client,
) {
  const { user } = principal;
  if (user.id === id) throw new AppError('VALIDATION', 'You cannot suspend yourself.');
  await suspendUser(app, { userId: id }, { actorId: user.id, client });
  return { ok: true as const };
}

/**
 * Ends a user's suspension.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the user is not suspended.
 */
export async function restoreInConsole(
  app: App,
  principal: Operator,
  { user_id: id }: z.output<typeof userInput>,
  client: Client,
) {
  const { user } = principal;
  await restoreUser(app, { userId: id }, { actorId: user.id, client });
  return { ok: true as const };
}
