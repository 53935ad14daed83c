import { and, desc, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Executor } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { type AuditAction, actionsWith } from './actions.ts';
import { actorOf, describe, shownUser } from './read-activity.ts';

/** The actions that an organisation's log can hold: what its administrators may see. */
export const loggedActions = [...actionsWith('shownTo', 'members'), ...actionsWith('shownTo', 'administrators')];

type LogPage = {
  organisationId: string;
  action?: AuditAction | undefined;
  /** The first day, and the day after the last one. */
  from?: Date | undefined;
  until?: Date | undefined;
  /** The id of the last entry of the page before. */
  after: string | null;
  limit: number;
};

/**
 * Returns the entries of an organisation, newest first, by the rules of `readActivity`: a user is named only while they
 * are a member, and an operator never.
 */
export async function readOrganisationLog(
  db: Executor,
  { organisationId, action, from, until, after, limit }: LogPage,
) {
  const actor = alias(users, 'actor');
  const subject = alias(users, 'subject');
  const isMember = (userId: SQL) => sql<boolean>`exists (select 1 from ${memberships} m
    where m.user_id = ${userId} and m.organisation_id = ${organisationId}::uuid)`;
  const rows = await db
    .select({
      entry: auditEvents,
      // The address comes first, because drizzle treats a joined row whose first column is null as missing.
      actor: { email: actor.email, name: actor.name },
      subject: { email: subject.email, name: subject.name },
      actorBelongs: isMember(sql`${actor.id}`),
      subjectBelongs: isMember(sql`${subject.id}`),
    })
    .from(auditEvents)
    .leftJoin(actor, eq(actor.id, auditEvents.actorId))
    .leftJoin(subject, eq(subject.id, auditEvents.userId))
    .where(
      and(
        eq(auditEvents.organisationId, organisationId),
        inArray(auditEvents.action, action === undefined ? loggedActions : [action]),
        from && gte(auditEvents.at, from),
        until && lt(auditEvents.at, until),
        after === null ? undefined : isOlderThan(after),
      ),
    )
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(limit);

  return rows.map(({ entry, actor, subject, actorBelongs, subjectBelongs }) => ({
    ...describe(entry),
    actor: actorOf(entry, null, actorBelongs ? actor : entry.actorId === null && subjectBelongs ? subject : null),
    person:
      entry.actorId === null && entry.keyId === null
        ? null
        : shownUser(entry.userId, null, subjectBelongs ? subject : null),
  }));
}

/** An entry that is no longer kept has no older ones. */
function isOlderThan(id: string): SQL {
  return sql`(${auditEvents.at}, ${auditEvents.id}) < (
    select last.at, last.id from ${auditEvents} last where last.id = ${id}::uuid)`;
}
