import { lte } from 'drizzle-orm';
import type { App } from '../app.ts';
import { deleteInSteps } from '../db/delete-in-steps.ts';
import { usageRequests } from '../db/schema/usage.ts';

const keptMilliseconds = 48 * 3_600_000;

/** Returns the time, in ISO 8601, before which idempotency keys have expired. */
export function keyCutoff(now: Date): string {
  return new Date(now.getTime() - keptMilliseconds).toISOString();
}

/** Deletes expired idempotency keys. Returns how many. */
export function deleteExpiredKeys(app: App): Promise<number> {
  return deleteInSteps(app.db, usageRequests, lte(usageRequests.at, new Date(keyCutoff(app.now()))));
}

/** Whether a failed statement, or its cause, has one of the SQLSTATEs. */
export function isSqlState(error: unknown, ...states: string[]): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && states.includes(String(current.code))) return true;
  }
  return false;
}
