import { and, desc, eq, inArray, notInArray, or, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Executor } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import type { AuditAction } from './record.ts';
import { administratorActions, hiddenActions, operatorActions, organisationActions } from './visibility.ts';

/** A user in an entry. Only a named one carries a name and an address. */
export type Person = { kind: 'you' | 'operator' | 'unnamed' } | { kind: 'named'; name: string | null; email: string };

/**
 * Returns the newest entries that concern a user, newest first: their own actions, actions on
 * their account, and what happened to their organisations as far as their role lets them see it
 * (audit/visibility.ts). An entry tells its reader no more than the pages do now:
 * - It names another user only while both belong to the organisation of the entry, so the
 *   address of a removed member, which may be another one by now, is not shown.
 * - It never names an operator, whose client address is not shown either.
 * - It names an organisation only to its members.
 */
export async function readActivity(db: Executor, userId: string, limit = 20) {
  const administered = sql`${memberships.role} in ('owner', 'admin')`;
  const rows = await newestEntries(db, userId, limit, [
    and(
      or(eq(auditEvents.userId, userId), eq(auditEvents.actorId, userId)),
      notInArray(auditEvents.action, hiddenActions),
    ),
    and(
      inArray(auditEvents.organisationId, organisationsOf(db, userId)),
      inArray(auditEvents.action, organisationActions),
    ),
    and(
      inArray(auditEvents.organisationId, organisationsOf(db, userId, administered)),
      inArray(auditEvents.action, administratorActions),
    ),
  ]);

  return rows.map(({ entry, actor, subject, organisation, belongs, actorBelongs, subjectBelongs }) => ({
    ...describe(entry),
    actor: actorOf(entry, userId, belongs && actorBelongs ? actor : null),
    person: personOf(entry.userId, userId, belongs && subjectBelongs ? subject : null),
    organisation: belongs ? organisation : null,
    client: isOwn(entry, userId) ? entry.client : null,
  }));
}

/** The condition for the entries about a user that operators see: all that name the user, and those about the user's organisations. */
export function aboutUser(db: Executor, userId: string): SQL | undefined {
  return or(
    eq(auditEvents.userId, userId),
    eq(auditEvents.actorId, userId),
    and(
      inArray(auditEvents.organisationId, organisationsOf(db, userId)),
      inArray(auditEvents.action, organisationActions),
    ),
  );
}

/** Whether a user is the actor of an entry. An entry without an actor counts as the action of its user. */
export function isOwn(entry: Pick<Entry, 'actorId' | 'userId'>, userId: string): boolean {
  return (entry.actorId ?? entry.userId) === userId;
}

type Entry = typeof auditEvents.$inferSelect;
type Named = { name: string | null; email: string } | null;

function named(user: Named): Person {
  return user === null ? { kind: 'unnamed' } : { kind: 'named', ...user };
}

function personOf(id: string | null, readerId: string, shown: Named): Person | null {
  if (id === null) return null;
  return id === readerId ? { kind: 'you' } : named(shown);
}

function actorOf({ action, actorId, userId }: Entry, readerId: string, shown: Named): Person | null {
  if (actorId === readerId) return { kind: 'you' };
  if (operatorActions.includes(action as AuditAction)) return { kind: 'operator' };
  return personOf(actorId ?? userId, readerId, shown);
}

function organisationsOf(db: Executor, userId: string, condition?: SQL) {
  return db
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(and(eq(memberships.userId, userId), condition));
}

function newestEntries(db: Executor, readerId: string, limit: number, which: (SQL | undefined)[]) {
  const actor = alias(users, 'actor');
  const subject = alias(users, 'subject');
  return db
    .select({
      entry: auditEvents,
      // The address first: drizzle takes a user whose first column is null for one that is not there.
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
    .where(or(...which))
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(limit);
}

/** Whether a user belongs to the organisation of the entry. */
function isMember(userId: SQL): SQL<boolean> {
  return sql<boolean>`exists (select 1 from memberships m
    where m.user_id = ${userId} and m.organisation_id = ${auditEvents.organisationId})`;
}

function describe({ id, at, action, details: { from, to, role, plan } }: Entry) {
  return {
    id,
    at: at.toISOString(),
    action: action as AuditAction,
    change: from !== undefined && to !== undefined ? { from, to } : null,
    role: role ?? null,
    /** The name of the plan at that time. */
    plan: plan ?? null,
  };
}
