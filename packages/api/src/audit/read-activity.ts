import { and, desc, eq, inArray, or } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { memberships } from '../db/schema/members.ts';
import type { AuditAction } from './record.ts';

/** Actions on a whole organisation, which concern all its members. */
const organisationActions: AuditAction[] = [
  'organisation-approved',
  'organisation-declined',
  'organisation-suspended',
  'organisation-restored',
];

/**
 * Returns the newest entries about a user, newest first, as the user may see them: their own
 * actions, actions on their account, and decisions about their organisations. The client
 * address of another actor is left out.
 */
export async function readActivity(db: Executor, userId: string, limit = 20) {
  const entries = await newestEntries(db, userId, limit);
  return entries.map((entry) => ({ ...describe(entry), client: isOwn(entry, userId) ? entry.client : null }));
}

/** Returns the same entries as operators see them, with all client addresses. */
export async function readHistory(db: Executor, userId: string, limit: number) {
  return (await newestEntries(db, userId, limit)).map(describe);
}

/** Whether a user is the actor of an entry. An entry without an actor counts as the action of its user. */
export function isOwn(entry: Pick<Entry, 'actorId' | 'userId'>, userId: string): boolean {
  return (entry.actorId ?? entry.userId) === userId;
}

type Entry = typeof auditEvents.$inferSelect;

function newestEntries(db: Executor, userId: string, limit: number): Promise<Entry[]> {
  const organisationIds = db
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, userId));
  const isAboutOrganisation = and(
    inArray(auditEvents.organisationId, organisationIds),
    inArray(auditEvents.action, organisationActions),
  );
  return db
    .select()
    .from(auditEvents)
    .where(or(eq(auditEvents.userId, userId), eq(auditEvents.actorId, userId), isAboutOrganisation))
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(limit);
}

function describe({ id, at, action, details: { from, to }, client }: Entry) {
  const change = from !== undefined && to !== undefined ? { from, to } : null;
  return { id, at: at.toISOString(), action: action as AuditAction, change, client };
}
