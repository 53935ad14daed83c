import { lte } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { deleteInSteps } from '../../platform/db/delete-in-steps.ts';
import { usageRequests } from '../../platform/db/schema/usage.ts';
import { hourMilliseconds } from '../../platform/durations.ts';

const keptMilliseconds = 48 * hourMilliseconds;

/** Returns the time, in ISO 8601, before which idempotency keys have expired. */
export function idempotencyKeyCutoff(now: Date): string {
  return new Date(now.getTime() - keptMilliseconds).toISOString();
}

/** Deletes expired idempotency keys. Returns how many. */
export function deleteExpiredKeys(app: App): Promise<number> {
  return deleteInSteps(app.db, usageRequests, lte(usageRequests.at, new Date(idempotencyKeyCutoff(app.now()))));
}
