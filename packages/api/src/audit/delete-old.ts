import { lt } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { deleteInSteps } from '../db/delete-in-steps.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { dayMilliseconds } from '../durations.ts';

/** Deletes audit entries older than RETENTION_DAYS. */
export async function deleteOldEntries(db: Executor, now: Date, retentionDays: number): Promise<void> {
  await deleteInSteps(db, auditEvents, lt(auditEvents.at, new Date(now.getTime() - retentionDays * dayMilliseconds)));
}
