import { sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { usageRequests } from '../db/schema/usage.ts';

const keptMilliseconds = 48 * 3_600_000;
const batchSize = 5000;

/** Returns the time, in ISO 8601, before which idempotency keys have expired. */
export function keyCutoff(now: Date): string {
  return new Date(now.getTime() - keptMilliseconds).toISOString();
}

/** Deletes expired idempotency keys, in steps that hold no lock for long. Returns how many. */
export async function deleteExpiredKeys(app: App): Promise<number> {
  for (let total = 0; ; ) {
    const { count } = await app.db.execute(sql`
      delete from ${usageRequests} where ctid in (
        select ctid from ${usageRequests} where ${usageRequests.at} <= ${keyCutoff(app.now())}::timestamptz
        limit ${batchSize} for update skip locked)`);
    total += count;
    if (count < batchSize) return total;
  }
}

/** Whether a failed statement, or its cause, has one of the SQLSTATEs. */
export function isSqlState(error: unknown, ...states: string[]): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && states.includes(String(current.code))) return true;
  }
  return false;
}
