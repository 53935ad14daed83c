import { inArray, lt } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { auditEvents } from '../db/schema/audit.ts';

const batchSize = 5000;

/**
 * Deletes audit entries older than RETENTION_DAYS, in batches, so that no statement locks many rows
 * for long.
 */
export async function deleteOldEntries(db: Executor, now: Date, retentionDays: number): Promise<void> {
  const before = new Date(now.getTime() - retentionDays * 86_400_000);
  for (let deleted = batchSize; deleted === batchSize; ) {
    const old = db.select({ id: auditEvents.id }).from(auditEvents).where(lt(auditEvents.at, before)).limit(batchSize);
    const rows = await db.delete(auditEvents).where(inArray(auditEvents.id, old)).returning({ id: auditEvents.id });
    deleted = rows.length;
  }
}
