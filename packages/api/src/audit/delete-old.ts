import { lt } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { auditEvents } from '../db/schema/audit.ts';

/** Deletes audit entries older than RETENTION_DAYS. Nothing else deletes or changes an entry. */
export async function deleteOldEntries(db: Executor, now: Date, retentionDays: number): Promise<void> {
  await db.delete(auditEvents).where(lt(auditEvents.at, new Date(now.getTime() - retentionDays * 86_400_000)));
}
