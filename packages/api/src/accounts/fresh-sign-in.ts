import { and, eq, gt } from 'drizzle-orm';
import type { App } from '../app.ts';
import { sessions } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import type { Principal } from '../sessions/principal.ts';

/** How long a sign-in counts as fresh. */
export const freshMinutes = 15;

/** @throws Refusal FORBIDDEN where the session did not begin in the last quarter of an hour. */
export async function requireFreshSignIn(app: App, { sessionId }: Principal): Promise<void> {
  const since = new Date(app.now().getTime() - freshMinutes * 60_000);
  const [fresh] = await app.db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, sessionId), gt(sessions.createdAt, since)));
  if (fresh === undefined) throw new Refusal('FORBIDDEN', 'Sign out, sign in again, and come back here.');
}
