import { and, desc, eq, gt } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';

/** Returns a user's sessions that have not expired, newest first. */
export function listSessions(app: App, userId: string) {
  return app.db
    .select({
      id: sessions.id,
      createdAt: sessions.createdAt,
      expiresAt: sessions.expiresAt,
      userAgent: sessions.userAgent,
      client: sessions.client,
    })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, app.now())))
    .orderBy(desc(sessions.createdAt), desc(sessions.id));
}
