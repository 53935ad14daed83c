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
import { type Principal, requireOperator } from '../sessions/principal.ts';
import { makePasswordLink, restoreUser, suspendUser } from './admin-commands.ts';

const mostRows = 50;
const mostEntries = 200;

export const usersInput = z.object({ search: freeLine(100) });
export const userInput = z.object({ user_id: z.uuid('There is no such person.') });

/** People by a part of their address or name, with where they stand. An empty search finds nobody. */
export async function findUsers(app: App, principal: Principal | null, { search }: z.output<typeof usersInput>) {
  requireOperator(principal);
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

/** One person's address, and the newest of what is written down about them. @throws AppError NOT_FOUND */
export async function readUserHistory(
  app: App,
  principal: Principal | null,
  { user_id: id }: z.output<typeof userInput>,
) {
  requireOperator(principal);
  return { email: await addressOf(app, id), activity: await readHistory(app.db, id, mostEntries) };
}

/** @returns the address of a one-time password link, to be handed over by whoever made it. */
export async function makeLinkFor(
  app: App,
  principal: Principal | null,
  { user_id: id }: z.output<typeof userInput>,
  client: Client,
) {
  const { user } = requireOperator(principal);
  return { url: await makePasswordLink(app, await addressOf(app, id), { actorId: user.id, client }) };
}

/** Closes a person's account. @throws AppError VALIDATION for one's own. */
export async function suspend(
  app: App,
  principal: Principal | null,
  { user_id: id }: z.output<typeof userInput>,
  client: Client,
) {
  const { user } = requireOperator(principal);
  if (user.id === id) throw new AppError('VALIDATION', 'You cannot suspend yourself.');
  await suspendUser(app, await addressOf(app, id), { actorId: user.id, client });
  return { ok: true as const };
}

export async function restore(
  app: App,
  principal: Principal | null,
  { user_id: id }: z.output<typeof userInput>,
  client: Client,
) {
  const { user } = requireOperator(principal);
  await restoreUser(app, await addressOf(app, id), { actorId: user.id, client });
  return { ok: true as const };
}

async function addressOf(app: App, id: string): Promise<string> {
  const [found] = await app.db.select({ email: users.email }).from(users).where(eq(users.id, id));
  if (found === undefined) throw new AppError('NOT_FOUND', 'There is no such person.');
  return found.email;
}
