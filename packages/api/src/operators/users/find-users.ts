import { and, asc, desc, eq, inArray, lt, or, type SQL } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { accountStatusOf, organisationStatusOf } from '../../organisations/account-status.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { addressSearchTexts } from '../../platform/security/address.ts';
import { type ListInput, pageOf } from '../pagination.ts';
import { contains, readSearchReach } from '../search.ts';

/** A user may belong to any number of organisations; a list names the first of them. */
const maxMemberships = 20;

/**
 * Returns a page of the users, newest first: all of them, or those whose address or name contains
 * the search (`search_finds` says how far it reaches). Each has its account status in each of its
 * organisations.
 */
export function findUsers(app: App, _operator: Operator, input: ListInput) {
  return listUsers(app, input);
}

/** Does what `findUsers` does, for an admin command. */
export async function listUsers(app: App, { search, after, rows }: ListInput) {
  const found = await app.db
    .select()
    .from(users)
    .where(and(await matches(app, search), after === undefined ? undefined : lt(users.id, after)))
    .orderBy(desc(users.id))
    .limit(rows + 1);
  const { shown, next } = pageOf(found, rows);
  const joined = await readMemberships(
    app,
    shown.map(({ id }) => id),
  );
  return {
    people: shown.map((user) => shownUser(user, joined.get(user.id) ?? [])),
    next,
    search_finds: await readSearchReach(app),
  };
}

type Membership = { role: typeof memberships.$inferSelect.role; organisation: typeof organisations.$inferSelect };

/** Converts a user and their memberships, the oldest first, to the form that operators see. */
export function shownUser(user: typeof users.$inferSelect, joined: Membership[]) {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    operator: user.operator,
    suspended: user.suspendedAt !== null,
    created_at: user.createdAt.toISOString(),
    /** In the first organisation. */
    account_status: accountStatusOf(user, joined[0]?.organisation ?? null),
    memberships: joined.map(({ role, organisation }) => ({
      role,
      organisation: {
        id: organisation.id,
        slug: organisation.slug,
        name: organisation.name,
        status: organisationStatusOf(organisation),
      },
    })),
  };
}

/** Reads the memberships of users, by user, the oldest first. */
export async function readMemberships(app: App, userIds: string[]): Promise<Map<string, Membership[]>> {
  const rows = await app.db
    .select({ userId: memberships.userId, role: memberships.role, organisation: organisations })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(inArray(memberships.userId, userIds))
    .orderBy(asc(memberships.createdAt), asc(organisations.id));

  const byUser = new Map<string, Membership[]>();
  for (const { userId, ...membership } of rows) {
    const joined = byUser.get(userId) ?? [];
    if (joined.length < maxMemberships) byUser.set(userId, [...joined, membership]);
  }
  return byUser;
}

async function matches(app: App, search: string | undefined): Promise<SQL | undefined> {
  if (!search) return undefined;
  const addresses = addressSearchTexts(search).map((text) => contains(app, text, { lower: [users.email] }));
  return or(...(await Promise.all([...addresses, contains(app, search, { mixed: [users.name] })])));
}
