import { and, asc, count, desc, eq, gt, inArray, isNotNull, isNull, lt, not, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { userHasFactor } from '../../auth/factors/has-factor.ts';
import type { Operator } from '../../auth/principal.ts';
import { accountStatusOf, approvalOf } from '../../organisations/account-status.ts';
import { readStarted } from '../../organisations/started.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { addressSearchTexts } from '../../platform/security/address.ts';
import { pageOf } from '../../platform/security/keyset-pagination.ts';
import type { CommandLine } from '../actor.ts';
import { listInput } from '../pagination.ts';
import { entriesAboutUser } from '../read-entries.ts';
import { contains, readSearchReach } from '../search.ts';

/** A user may belong to any number of organisations; a list names the first of them. */
const maxMemberships = 20;

const userStatuses = ['active', 'awaiting_approval', 'unverified', 'closed', 'suspended'] as const;

/** The badge that a list shows of a user: a suspended one is closed in every organisation. */
export const usersInput = listInput.extend({ status: z.enum(userStatuses, zodMessage('not_a_status')).optional() });

/**
 * Returns a page of the users, newest first: all of them, or those whose address or name contains
 * the search (`search_finds` says how far it reaches), and who have the status. Each has its account status in each of its
 * organisations.
 */
export async function listUsers(
  app: App,
  _reader: Operator | CommandLine,
  { search, status, after, rows }: z.output<typeof usersInput>,
) {
  const found = await app.db
    .select()
    .from(users)
    .where(and(await matches(app, search), hasStatus(status), after === undefined ? undefined : lt(users.id, after)))
    .orderBy(desc(users.id))
    .limit(rows + 1);
  const { page, next } = pageOf(found, rows, ({ id }) => id);
  const joined = await readMemberships(
    app,
    page.map(({ id }) => id),
  );
  return {
    people: page.map((user) => shownUser(app, user, joined.get(user.id) ?? [])),
    next,
    search_finds: await readSearchReach(app),
  };
}

type Membership = { role: typeof memberships.$inferSelect.role; organisation: typeof organisations.$inferSelect };

/** Converts a user and their memberships, the oldest first, to the form that operators see. */
function shownUser(app: App, user: typeof users.$inferSelect, joined: Membership[]) {
  return {
    id: user.id,
    /** What the log names the user by. */
    log_id: app.pseudonymOf(user.id),
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
        status: approvalOf(organisation),
      },
    })),
  };
}

/** Reads the memberships of users, by user, the oldest first. */
async function readMemberships(app: App, userIds: string[]): Promise<Map<string, Membership[]>> {
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

/** The condition that a user has a status, as `accountStatusOf` computes it: in the first organisation. */
function hasStatus(status: (typeof userStatuses)[number] | undefined): SQL | undefined {
  if (status === undefined) return undefined;
  if (status === 'suspended') return isNotNull(users.suspendedAt);

  const approval = sql`coalesce((
    select case when joined.suspended_at is null then joined.approval else 'suspended' end
    from memberships joining join organisations joined on joined.id = joining.organisation_id
    where joining.user_id = users.id order by joining.created_at, joined.id limit 1),
    case when users.invited_only then 'pending' else 'approved' end)`;
  const isClosed = sql`${approval} in ('declined', 'suspended')`;
  const open = and(isNull(users.suspendedAt), not(isClosed));
  switch (status) {
    case 'closed':
      return and(isNull(users.suspendedAt), isClosed);
    case 'unverified':
      return and(open, isNull(users.emailVerifiedAt));
    default:
      return and(
        open,
        isNotNull(users.emailVerifiedAt),
        sql`${approval} = ${status === 'active' ? 'approved' : 'pending'}`,
      );
  }
}

export const userInput = z.object({ user_id: z.uuid(zodMessage('no_such_person')) });

/**
 * Returns the facts about a user, their organisations and the newest audit entries about them.
 *
 * @throws AppError NOT_FOUND if there is no such user.
 */
export async function readUserPage(app: App, principal: Operator, { user_id: id }: z.output<typeof userInput>) {
  const { user: operator } = principal;
  const [user] = await app.db.select().from(users).where(eq(users.id, id));
  if (user === undefined) throw new AppError('NOT_FOUND', message('no_such_person'));

  const [joined, identity, live, entries] = await Promise.all([
    readMemberships(app, [id]),
    app.db
      .select({ linkedAt: identities.linkedAt })
      .from(identities)
      .where(and(eq(identities.userId, id), isNull(identities.unlinkedAt)))
      .orderBy(desc(identities.linkedAt))
      .limit(1),
    app.db
      .select({ rows: count() })
      .from(sessions)
      .where(and(eq(sessions.userId, id), gt(sessions.expiresAt, app.now()))),
    entriesAboutUser(app.db, id),
  ]);
  return {
    ...shownUser(app, user, joined.get(id) ?? []),
    self: operator.id === id,
    email_verified_at: user.emailVerifiedAt?.toISOString() ?? null,
    suspended_at: user.suspendedAt?.toISOString() ?? null,
    has_password: user.passwordHash !== null,
    has_factor: await userHasFactor(app.db, id),
    identity_linked_at: identity[0]?.linkedAt.toISOString() ?? null,
    sessions: live[0]?.rows ?? 0,
    /** What ends with a suspension, the API keys unless they are kept. */
    started: await readStarted(app.db, app.now(), { userId: id, of: 'everything' }),
    entries,
  };
}
