import { and, desc, eq, inArray, or } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { memberships } from '../db/schema/members.ts';
import type { AuditAction } from './record.ts';

/** What happens to an organisation as a whole, and so to everybody in it. */
const ofOrganisations: AuditAction[] = [
  'organisation-approved',
  'organisation-declined',
  'organisation-suspended',
  'organisation-restored',
];

/**
 * The newest entries about a person, something they did or the gates of their
 * organisations, newest first, as they may see it: from where somebody else did it is
 * not theirs to know.
 */
export async function readActivity(db: Executor, userId: string, most = 20) {
  const entries = await newest(db, userId, most);
  return entries.map((entry) => ({ ...shown(entry), client: isOwn(entry, userId) ? entry.client : null }));
}

/** The same as operators see it. */
export async function readHistory(db: Executor, userId: string, most: number) {
  return (await newest(db, userId, most)).map(shown);
}

/** Whether somebody did it themselves, as far as anybody knows. */
export function isOwn({ actorId, userId }: Pick<Entry, 'actorId' | 'userId'>, whoseId: string): boolean {
  return (actorId ?? userId) === whoseId;
}

type Entry = typeof auditEvents.$inferSelect;

function newest(db: Executor, userId: string, most: number): Promise<Entry[]> {
  const belongsTo = db
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, userId));
  const ofTheirs = and(inArray(auditEvents.organisationId, belongsTo), inArray(auditEvents.action, ofOrganisations));
  return db
    .select()
    .from(auditEvents)
    .where(or(eq(auditEvents.userId, userId), eq(auditEvents.actorId, userId), ofTheirs))
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(most);
}

function shown({ id, at, action, details: { from, to }, client }: Entry) {
  const change = from !== undefined && to !== undefined ? { from, to } : null;
  return { id, at: at.toISOString(), action: action as AuditAction, change, client };
}
