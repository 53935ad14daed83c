import { eq, lt } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { deleteInSteps } from '../../platform/db/delete-in-steps.ts';
import { notices } from '../../platform/db/schema/sessions.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { hashToken, newToken } from '../../platform/security/token.ts';

/** Longer than a redirect takes. If the page was not opened then, a later page must not show an old notice. */
const lifetimeMinutes = 5;

/**
 * Stores what the next page of a browser says once. The content is JSON, and the row is keyed by a
 * random cookie: a link or a cookie made elsewhere cannot choose the text of a page.
 *
 * @returns the value of the cookie that names the row.
 */
export async function storeNotice(app: App, content: unknown): Promise<string> {
  const cookie = newToken();
  const expiresAt = new Date(app.now().getTime() + lifetimeMinutes * minuteMilliseconds);
  await app.db.insert(notices).values({ idHash: hashToken(cookie), content, expiresAt });
  return cookie;
}

/** Reads a notice and deletes it in the same statement, so that it is shown once; null if it is unknown or expired. */
export async function consumeNotice(app: App, cookie: string): Promise<unknown> {
  const [taken] = await app.db
    .delete(notices)
    .where(eq(notices.idHash, hashToken(cookie)))
    .returning({ content: notices.content, expiresAt: notices.expiresAt });
  return taken !== undefined && taken.expiresAt > app.now() ? taken.content : null;
}

/** Deletes notices that have expired, in steps. */
export async function deleteExpiredNotices(app: App): Promise<void> {
  await deleteInSteps(app.db, notices, lt(notices.expiresAt, app.now()));
}
