import { lt } from 'drizzle-orm';
import type { Executor } from '../db/client.ts';
import { auditEvents } from '../db/schema/audit.ts';

/** Removes entries that are older than they are kept. Nothing else ever removes or changes one. */
export async function sweepAudit(db: Executor, now: Date, retentionDays: number): Promise<void> {
  await db.delete(auditEvents).where(lt(auditEvents.at, new Date(now.getTime() - retentionDays * 86_400_000)));
}
