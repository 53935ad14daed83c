import { asc, eq, isNotNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { ChangeType } from '../../changes/record-change.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { changes } from '../../platform/db/schema/changes.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';

/** What a service knows that follows the feed from its start, by ids. */
type Known = {
  organisations: Map<string, { slug: string; name: string | null; approval: string; suspended: boolean }>;
  /** By organisation and user. */
  roles: Map<string, string>;
  suspendedUsers: Map<string, boolean>;
  /** Of the users whose name or address changed. */
  names: Map<string, string | null>;
  emails: Map<string, string>;
};

/** `data` as the types tell it that change what is known. */
type Told = { organisation: string; user: string; data: Record<string, string | null> };

/** What each change tells. A type that is missing here does not compile. */
const learn: Record<ChangeType, (known: Known, told: Told) => void> = {
  'organisation.created': (known, { organisation, data }) => {
    known.organisations.set(organisation, { ...namesIn(data), approval: 'pending', suspended: false });
  },
  'organisation.renamed': (known, { organisation, data }) => update(known, organisation, namesIn(data)),
  'organisation.approved': (known, { organisation }) => update(known, organisation, { approval: 'approved' }),
  'organisation.declined': (known, { organisation }) => update(known, organisation, { approval: 'declined' }),
  'organisation.suspended': (known, { organisation, data: { approval } }) =>
    update(known, organisation, approval ? { approval } : { suspended: true }),
  'organisation.restored': (known, { organisation }) => update(known, organisation, { suspended: false }),
  'organisation.deleted': (known, { organisation }) => {
    update(known, organisation, {});
    known.organisations.delete(organisation);
    for (const key of known.roles.keys()) if (key.startsWith(organisation)) known.roles.delete(key);
  },
  'plan.changed': (known, { organisation }) => update(known, organisation, {}),
  'member.joined': (known, told) => setRole(known, told),
  'member.role_changed': (known, told) => setRole(known, told),
  'member.left': (known, { organisation, user }) => known.roles.delete(`${organisation} ${user}`),
  'user.renamed': (known, { user, data }) => known.names.set(user, data.name ?? null),
  'user.email_changed': (known, { user, data }) => known.emails.set(user, data.email ?? ''),
  'user.suspended': (known, { user }) => known.suspendedUsers.set(user, true),
  'user.restored': (known, { user }) => known.suspendedUsers.delete(user),
  'user.deleted': ({ names, emails, suspendedUsers }, { user }) => {
    for (const each of [names, emails, suspendedUsers]) each.delete(user);
  },
};

function namesIn({ slug, name = null }: Told['data']) {
  return { slug: slug ?? '', name };
}

function update(known: Known, id: string, changed: object): void {
  const organisation = known.organisations.get(id);
  if (organisation === undefined) throw new Error(`The feed has not told that organisation ${id} exists.`);
  Object.assign(organisation, changed);
}

function setRole(known: Known, { organisation, user, data }: Told): void {
  update(known, organisation, {});
  known.roles.set(`${organisation} ${user}`, data.role ?? '');
}

/** Returns what a service knows that follows the feed from its start, and what of it the tables say. */
export async function followFeed({ db }: App) {
  const known: Known = {
    organisations: new Map(),
    roles: new Map(),
    suspendedUsers: new Map(),
    names: new Map(),
    emails: new Map(),
  };
  for (const { type, organisationId, userId, data } of await db.select().from(changes).orderBy(asc(changes.id))) {
    const told = { organisation: organisationId ?? '', user: userId ?? '', data: data as Told['data'] };
    learn[type as ChangeType](known, told);
  }

  const verified = await db.select().from(users).where(isNotNull(users.emailVerifiedAt));
  const members = await db
    .select({ organisation: organisations, userId: users.id, role: memberships.role })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(isNotNull(users.emailVerifiedAt));
  return {
    told: {
      organisations: new Map(
        [...known.organisations].map(([id, { slug, name, approval, suspended }]) => {
          // That a decline was undone is told by the next decision: access had ended.
          return [id, { slug, name, open: approval === 'approved' && !suspended }] as const;
        }),
      ),
      roles: known.roles,
      suspendedUsers: new Set(known.suspendedUsers.keys()),
      names: known.names,
      emails: known.emails,
    },
    stored: {
      organisations: new Map(
        members.map(({ organisation: { id, slug, name, approval, suspendedAt } }) => {
          return [id, { slug, name, open: approval === 'approved' && suspendedAt === null }] as const;
        }),
      ),
      roles: new Map(members.map(({ organisation, userId, role }) => [`${organisation.id} ${userId}`, role])),
      suspendedUsers: new Set(verified.filter(({ suspendedAt }) => suspendedAt !== null).map(({ id }) => id)),
      names: new Map(verified.filter(({ id }) => known.names.has(id)).map(({ id, name }) => [id, name])),
      emails: new Map(verified.filter(({ id }) => known.emails.has(id)).map(({ id, email }) => [id, email])),
    },
  };
}
