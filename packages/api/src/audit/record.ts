import { lt, sql } from 'drizzle-orm';
import { type Executor, prepared } from '../platform/db/client.ts';
import { newId } from '../platform/db/id.ts';
import { deleteInSteps } from '../platform/db/in-steps.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import type { Client } from '../platform/security/client.ts';
import type { AuditAction } from './actions.ts';

export type Actor = {
  /** The user who acts, or the maker of the key; null for an admin command and for an action not attributed to a user. */
  actorId: string | null;
  /** The API key that acts; absent where none does. */
  keyId?: string | undefined;
  client?: Client | undefined;
};

type Entry = Partial<Actor> & {
  action: AuditAction;
  userId?: string | null;
  organisationId?: string | null;
  details?: Record<string, string>;
};

/**
 * Inserts an audit entry: the action, its actor, the user and organisation concerned, and the client. An
 * entry never changes, except that erasing a user removes client, user agent and details.
 */
export async function recordAudit(db: Executor, now: Date, entry: Entry): Promise<void> {
  await insertion(db).execute(auditValues(now, entry));
}

/** Inserts many audit entries, as `recordAudit` does with one. */
export async function insertAudit(db: Executor, now: Date, entries: Entry[]): Promise<void> {
  if (entries.length === 0) return;
  await db.insert(auditEvents).values(entries.map((entry) => auditValues(now, entry)));
}

/** The row of an audit entry. */
function auditValues(now: Date, entry: Entry) {
  return {
    id: newId(now),
    at: now,
    action: entry.action,
    actorId: entry.actorId ?? null,
    keyId: entry.keyId ?? null,
    userId: entry.userId ?? null,
    organisationId: entry.organisationId ?? null,
    client: entry.client?.address ?? null,
    userAgent: entry.client?.userAgent?.slice(0, 300) ?? null,
    details: entry.details ?? {},
  };
}

const insertion = prepared((db) => {
  const row = {
    id: sql.placeholder('id'),
    at: sql.placeholder('at'),
    action: sql.placeholder('action'),
    actorId: sql.placeholder('actorId'),
    keyId: sql.placeholder('keyId'),
    userId: sql.placeholder('userId'),
    organisationId: sql.placeholder('organisationId'),
    client: sql.placeholder('client'),
    userAgent: sql.placeholder('userAgent'),
    details: sql.placeholder('details'),
  };
  return db.insert(auditEvents).values(row).prepare('audit_event');
});

/** Deletes audit entries older than RETENTION_DAYS. */
export async function deleteOldEntries(db: Executor, now: Date, retentionDays: number): Promise<void> {
  await deleteInSteps(db, auditEvents, lt(auditEvents.at, new Date(now.getTime() - retentionDays * dayMilliseconds)));
}
