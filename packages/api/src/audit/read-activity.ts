import { and, desc, eq, inArray, isNull, notInArray, or, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Executor } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { invitations, memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { type AuditAction, actionsWith } from './actions.ts';

const hiddenActions = actionsWith('shownTo', 'operators');
const visibleToMembers = actionsWith('shownTo', 'members');
const visibleToAdministrators = actionsWith('shownTo', 'administrators');
const operatorActions = actionsWith('isOperators', true);

/** A user in an entry. Only a named one carries a name and an address. */
type ShownUser = { kind: 'you' | 'operator' | 'unnamed' } | { kind: 'named'; name: string | null; email: string };

/**
 * Returns the newest entries that concern a user, newest first: their own actions, actions on
 * their account, and what happened to their organisations as far as their role lets them see it
 * (audit/actions.ts). An entry shows its reader no more than the pages show now:
 * - It names another user only while both belong to the organisation of the entry, so the
 *   address of a removed member, which may be another one by now, is not shown.
 * - It never names an operator, whose client address is not shown either.
 * - It names an organisation only to its members, and shows the note of an invitation only to them while it is kept.
 */
export async function readActivity(db: Executor, userId: string, limit = 20) {
  const isShown = notInArray(auditEvents.action, hiddenActions);
  const isAdministrator = sql`joined.role in ('owner', 'admin')`;
  const rows = await newestEntries(db, userId, limit, [
    newest(db, and(eq(auditEvents.userId, userId), isShown), limit),
    // What a key did that they made is not theirs to see again.
    newest(db, and(eq(auditEvents.actorId, userId), isNull(auditEvents.keyId), isShown), limit),
    newestOfOrganisations(db, userId, limit, [
      inArray(auditEvents.action, visibleToMembers),
      and(isAdministrator, inArray(auditEvents.action, visibleToAdministrators)),
    ]),
  ]);

  return rows.map(({ entry, note, actor, subject, organisation, belongs, actorBelongs, subjectBelongs }) => ({
    ...describe(entry),
    actor: actorOf(entry, userId, belongs && actorBelongs ? actor : null),
    person: shownUser(entry.userId, userId, belongs && subjectBelongs ? subject : null),
    organisation: belongs ? organisation : null,
    note: belongs && entry.action === 'invitation-made' ? note : null,
    client: isOwn(entry, userId) ? entry.client : null,
  }));
}

/**
 * The condition for the newest entries about a user that operators see: all that name the user, and
 * those about the user's organisations.
 */
export function aboutUser(db: Executor, userId: string, limit: number): SQL {
  return isAmong([
    newest(db, eq(auditEvents.userId, userId), limit),
    newest(db, eq(auditEvents.actorId, userId), limit),
    newestOfOrganisations(db, userId, limit, [inArray(auditEvents.action, visibleToMembers)]),
  ]);
}

/** Whether a user is the actor of an entry. An entry without an actor counts as the action of its user. */
export function isOwn(entry: Pick<Entry, 'actorId' | 'keyId' | 'userId'>, userId: string): boolean {
  return entry.keyId === null && (entry.actorId ?? entry.userId) === userId;
}

type Entry = typeof auditEvents.$inferSelect;
type NamedUser = { name: string | null; email: string } | null;

function named(user: NamedUser): ShownUser {
  return user === null ? { kind: 'unnamed' } : { kind: 'named', ...user };
}

/** Returns what is shown of a user; `shown` is null where the reader may not see the name. */
export function shownUser(id: string | null, readerId: string | null, shown: NamedUser): ShownUser | null {
  if (id === null) return null;
  return id === readerId ? { kind: 'you' } : named(shown);
}

/** Returns what is shown of the user who acted. An operator is never named, and an API key that manages counts as one. */
export function actorOf(
  { action, actorId, keyId, userId, details }: Entry,
  readerId: string | null,
  shown: NamedUser,
): ShownUser | null {
  if (keyId !== null) return { kind: 'operator' };
  if (actorId !== null && actorId === readerId) return { kind: 'you' };
  // `by`: an action that users carry out too.
  if (operatorActions.includes(action as AuditAction) || details.by === 'operator') return { kind: 'operator' };
  return shownUser(actorId ?? userId, readerId, shown);
}

/**
 * The ids of the newest entries of a condition that one index serves. A condition over several columns would read the
 * whole log.
 */
function newest(db: Executor, condition: SQL | undefined, limit: number): SQL {
  const ids = db.select({ id: auditEvents.id }).from(auditEvents).where(condition);
  return sql`(${ids.orderBy(desc(auditEvents.at), desc(auditEvents.id)).limit(limit)})`;
}

/** The ids of the newest entries of each organisation of a user, of any of the conditions. */
function newestOfOrganisations(db: Executor, userId: string, limit: number, conditions: (SQL | undefined)[]): SQL {
  const ofOrganisation = newest(
    db,
    and(sql`${auditEvents.organisationId} = joined.organisation_id`, or(...conditions)),
    limit,
  );
  return sql`(select newest.id from ${memberships} joined cross join lateral ${ofOrganisation} newest
    where joined.user_id = ${userId})`;
}

function isAmong(ids: SQL[]): SQL {
  return sql`${auditEvents.id} in (${sql.join(ids, sql` union all `)})`;
}

function newestEntries(db: Executor, readerId: string, limit: number, ids: SQL[]) {
  const actor = alias(users, 'actor');
  const subject = alias(users, 'subject');
  return db
    .select({
      entry: auditEvents,
      note: invitations.note,
      // The address comes first, because drizzle treats a joined row whose first column is null as missing.
      actor: { email: actor.email, name: actor.name },
      subject: { email: subject.email, name: subject.name },
      organisation: { id: organisations.id, slug: organisations.slug, name: organisations.name },
      belongs: isMember(sql`${readerId}::uuid`),
      actorBelongs: isMember(sql`${actor.id}`),
      subjectBelongs: isMember(sql`${subject.id}`),
    })
    .from(auditEvents)
    .leftJoin(actor, eq(actor.id, auditEvents.actorId))
    .leftJoin(subject, eq(subject.id, auditEvents.userId))
    .leftJoin(organisations, eq(organisations.id, auditEvents.organisationId))
    .leftJoin(invitations, eq(invitations.id, sql`(${auditEvents.details}->>'invitation')::uuid`))
    .where(isAmong(ids))
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(limit);
}

/** Whether a user belongs to the organisation of the entry. */
function isMember(userId: SQL): SQL<boolean> {
  return sql<boolean>`exists (select 1 from memberships m
    where m.user_id = ${userId} and m.organisation_id = ${auditEvents.organisationId})`;
}

/** Returns what an entry tells, beside who acted. */
export function describe({ id, at, action, details: { from, to, role, plan, name } }: Entry) {
  return {
    id,
    at: at.toISOString(),
    action: action as AuditAction,
    change: from !== undefined && to !== undefined ? { from, to } : null,
    role: role ?? null,
    /** The name of the plan at that time. */
    plan: plan ?? null,
    /** The name of the API key that was created. */
    key: (action === 'api-key-created' && name) || null,
  };
}
