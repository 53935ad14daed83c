import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { lockUser } from '../../auth/profile/lock-user.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import type { Actor } from '../actor.ts';

/** Ends all sessions of a user, or of all users without `userId`. Returns how many sessions ended. */
export function endSessions(app: App, { userId }: { userId?: string }, actor: Actor): Promise<number> {
  return app.db.transaction(async (tx) => {
    if (userId !== undefined) await lockUser(tx, userId);
    const ended = await tx
      .delete(sessions)
      .where(userId === undefined ? undefined : eq(sessions.userId, userId))
      .returning({ id: sessions.id });
    await recordAudit(tx, app.now(), { action: 'sessions-ended', ...actor, ...(userId !== undefined && { userId }) });
    return ended.length;
  });
}
