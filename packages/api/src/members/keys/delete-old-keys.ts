import { lt, or } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { dayMilliseconds } from '../../platform/durations.ts';

const keptDays = 30;

/** Returns the time before which a key that ended is no longer kept. */
export function endedKeyCutoff(now: Date): Date {
  return new Date(now.getTime() - keptDays * dayMilliseconds);
}

/** Deletes keys that were revoked or expired more than 30 days ago. The audit log keeps their history. */
export async function deleteOldKeys(app: App): Promise<void> {
  const cutoff = endedKeyCutoff(app.now());
  await app.db.delete(apiKeys).where(or(lt(apiKeys.revokedAt, cutoff), lt(apiKeys.expiresAt, cutoff)));
}
