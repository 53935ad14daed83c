import { lt } from 'drizzle-orm';
import type { Executor } from '../platform/db/client.ts';
import { deleteInSteps } from '../platform/db/delete-in-steps.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { dayMilliseconds } from '../platform/durations.ts';

/** Deletes audit entries older than RETENTION_DAYS. */
export async function deleteOldEntries(db: Executor, now: Date, retentionDays: number): Promise<void> {
  await deleteInSteps(db, auditEvents, lt(auditEvents.at, new Date(now.getTime() - retentionDays * dayMilliseconds)));
}
