import { desc, eq, type SQL } from 'drizzle-orm';
import { aboutUser } from '../audit/read-activity.ts';
import type { Executor } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';

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
    .select({ entry: auditEvents, actor: users.email })
    .from(auditEvents)
    .leftJoin(users, eq(users.id, auditEvents.actorId))
    .where(concerns)
    .orderBy(desc(auditEvents.at), desc(auditEvents.id))
    .limit(maxEntries);

  return rows.map(({ entry: { id, at, action, details, client }, actor }) => ({
    id,
    at: at.toISOString(),
    action,
    change: details.from !== undefined && details.to !== undefined ? { from: details.from, to: details.to } : null,
    reason: details.reason ?? null,
    client,
    /** The address of the user who acted; null for an admin command, a rule and a deleted account. */
    actor,
  }));
}
