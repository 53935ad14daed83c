import { and, desc, eq, or, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { App } from '../app.ts';
import { type AuditAction, auditActions } from '../audit/actions.ts';
import { aboutUser } from '../audit/read-activity.ts';
import type { Operator } from '../auth/principal.ts';
import { nameColumns } from '../organisations/account-status.ts';
import type { Executor } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { apiKeys } from '../platform/db/schema/keys.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { isAppError } from '../platform/errors.ts';
import { pageOf } from '../platform/security/keyset-pagination.ts';
import { freeLine } from '../platform/security/text.ts';
import { beforeCursor, cursorOf } from '../platform/security/time-cursor.ts';
import { findUser } from './find-accounts.ts';
import { cursorInput } from './pagination.ts';

const maxEntries = 100;

/** Returns the newest audit entries about a user, newest first, as operators see them: with actor, client and reason. */
export function entriesAboutUser(db: Executor, userId: string) {
  return readEntries(db, aboutUser(db, userId, maxEntries));
}

/** Returns the newest audit entries about an organisation, newest first, as operators see them. */
export function entriesAboutOrganisation(db: Executor, organisationId: string) {
  return readEntries(db, eq(auditEvents.organisationId, organisationId));
}

async function readEntries(db: Executor, concerns: SQL | undefined) {
  const rows = await db
    .select({ entry: auditEvents, actor: users.email, key: apiKeys.name })
    .from(auditEvents)
    .leftJoin(users, eq(users.id, auditEvents.actorId))
    .leftJoin(apiKeys, eq(apiKeys.id, auditEvents.keyId))
    .where(concerns)
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(maxEntries);

  return rows.map(({ entry, actor, key }) => shownEntry(entry, actor, key));
}

/** Converts an entry to the form that operators see. */
function shownEntry(
  { id, at, action, details, client, keyId }: typeof auditEvents.$inferSelect,
  actor: string | null,
  key: string | null,
) {
  return {
    id,
    at: at.toISOString(),
    action,
    change: details.from !== undefined && details.to !== undefined ? { from: details.from, to: details.to } : null,
    reason: details.reason ?? null,
    client,
    /** The address of the user who acted; null for an admin command, a rule and a deleted account. */
    actor,
    /** The name of the API key that acted, whose maker the actor is; its id where the key is kept no longer; else null. */
    key: key ?? keyId,
  };
}

export const auditInput = z.object({
  /** The address or id of a user: entries about the user, and those of what the user did. */
  person: freeLine(254).optional(),
  action: z.enum(Object.keys(auditActions) as AuditAction[], 'This must be an action.').optional(),
  after: cursorInput,
});

/** The rows of a page of the audit log. */
const rowsPerPage = 50;

/** Returns a page of the audit log, newest first: who did what, when and about whom. Names of who was deleted are gone. */
export async function readAudit(app: App, _operator: Operator, { person, action, after }: z.output<typeof auditInput>) {
  const subject = alias(users, 'subject');
  const concerned = person ? await idOf(app.db, person) : undefined;
  const rows = await app.db
    .select({
      entry: auditEvents,
      actor: users.email,
      key: apiKeys.name,
      subject: subject.email,
      organisation: nameColumns,
    })
    .from(auditEvents)
    .leftJoin(users, eq(users.id, auditEvents.actorId))
    .leftJoin(apiKeys, eq(apiKeys.id, auditEvents.keyId))
    .leftJoin(subject, eq(subject.id, auditEvents.userId))
    .leftJoin(organisations, eq(organisations.id, auditEvents.organisationId))
    .where(
      and(
        concerned === undefined ? undefined : or(eq(auditEvents.userId, concerned), eq(auditEvents.actorId, concerned)),
        action && eq(auditEvents.action, action),
        beforeCursor(auditEvents.at, auditEvents.id, after),
      ),
    )
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(rowsPerPage + 1);

  const { page, next } = pageOf(rows, rowsPerPage, ({ entry }) => cursorOf(entry.at, entry.id));
  return {
    entries: page.map(({ entry, actor, key, subject: about, organisation }) => ({
      ...shownEntry(entry, actor, key),
      /** The user whom it is about, unless that is the actor; the address is null of a deleted one. */
      person:
        entry.userId === null || (entry.userId === entry.actorId && entry.keyId === null)
          ? null
          : { id: entry.userId, email: about },
      organisation,
    })),
    next,
  };
}

/** The id of a user by address or id; one that nobody has where there is none. */
async function idOf(db: Executor, person: string): Promise<string> {
  const found = await findUser(db, person).catch((error: unknown) => {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  });
  return found?.id ?? '00000000-0000-0000-0000-000000000000';
}
