import { and, eq, isNull, lt, or } from 'drizzle-orm';
import type { App } from '../app.ts';
import { memberships } from '../db/schema/members.ts';

const hourMs = 3_600_000;

/**
 * Stores that a user's session acts for an organisation now, at most once an hour. Per
 * membership, so that no organisation learns when a user acts for another one.
 */
export async function recordSeen(
  app: App,
  userId: string,
  { id: organisationId, lastSeenAt }: { id: string; lastSeenAt: Date | null },
): Promise<void> {
  const now = app.now();
  const before = new Date(now.getTime() - hourMs);
  if (lastSeenAt !== null && lastSeenAt > before) return;

  // The condition is repeated: of parallel requests one writes.
  await app.db
    .update(memberships)
    .set({ lastSeenAt: now })
    .where(
      and(
        eq(memberships.userId, userId),
        eq(memberships.organisationId, organisationId),
        or(isNull(memberships.lastSeenAt), lt(memberships.lastSeenAt, before)),
      ),
    );
}
