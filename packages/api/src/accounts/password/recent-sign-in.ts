import { and, eq, gt, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../db/client.ts';
import { identities, users } from '../../db/schema/accounts.ts';
import { sessions } from '../../db/schema/sessions.ts';
import { AppError } from '../../errors.ts';
import type { Principal } from '../../sessions/principal.ts';

/** How long a sign-in counts as fresh. */
export const freshMinutes = 15;

/** @throws AppError FORBIDDEN where the session did not begin in the last quarter of an hour. */
export async function requireRecentSignIn(app: App, who: Principal): Promise<void> {
  if (!(await isFreshSignIn(app, who))) {
    throw new AppError('FORBIDDEN', 'Sign out, sign in again, and come back here.');
  }
}

/** Whether the session began in the last quarter of an hour. */
export async function isFreshSignIn(app: App, who: Principal): Promise<boolean> {
  return (await freshSession(app, app.db, who)) !== null;
}

/**
 * Whether a password may be set without the current one: after a fresh sign-in, where
 * there is none, or where the identity provider that is still linked vouched for whoever
 * signed in.
 */
export async function maySetPassword(app: App, db: Executor, who: Principal): Promise<boolean> {
  const session = await freshSession(app, db, who);
  if (session === null) return false;
  return !session.hasPassword || (session.idpSubject !== null && session.idpSubject === session.linkedSubject);
}

async function freshSession(app: App, db: Executor, { sessionId }: Principal) {
  const since = new Date(app.now().getTime() - freshMinutes * 60_000);
  const [fresh] = await db
    .select({ idpSubject: sessions.idpSubject, linkedSubject: identities.subject, passwordHash: users.passwordHash })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(identities, and(eq(identities.userId, users.id), isNull(identities.unlinkedAt)))
    .where(and(eq(sessions.id, sessionId), gt(sessions.createdAt, since)));
  return fresh === undefined ? null : { ...fresh, hasPassword: fresh.passwordHash !== null };
}
