import { and, eq, gt, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../db/client.ts';
import { identities, users } from '../../db/schema/accounts.ts';
import { sessions } from '../../db/schema/sessions.ts';
import { AppError } from '../../errors.ts';
import type { UserPrincipal } from '../../sessions/principal.ts';

/** The minutes for which a sign-in counts as recent. */
export const freshMinutes = 15;

/** @throws AppError FORBIDDEN if the session did not begin in the last 15 minutes. */
export async function requireRecentSignIn(app: App, principal: UserPrincipal): Promise<void> {
  if (!(await isFreshSignIn(app, principal))) {
    throw new AppError('FORBIDDEN', 'Sign out, sign in again, and come back here.');
  }
}

/** Whether the session began in the last 15 minutes. */
export async function isFreshSignIn(app: App, principal: UserPrincipal): Promise<boolean> {
  return (await freshSession(app, app.db, principal)) !== null;
}

/**
 * Whether a password may be set without the current one: after a recent sign-in, if the user
 * has no password or signed in through the identity that is still linked.
 */
export async function maySetPassword(app: App, db: Executor, principal: UserPrincipal): Promise<boolean> {
  const session = await freshSession(app, db, principal);
  if (session === null) return false;
  return !session.hasPassword || (session.idpSubject !== null && session.idpSubject === session.linkedSubject);
}

async function freshSession(app: App, db: Executor, { sessionId }: UserPrincipal) {
  const since = new Date(app.now().getTime() - freshMinutes * 60_000);
  const [fresh] = await db
    .select({ idpSubject: sessions.idpSubject, linkedSubject: identities.subject, passwordHash: users.passwordHash })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(identities, and(eq(identities.userId, users.id), isNull(identities.unlinkedAt)))
    .where(and(eq(sessions.id, sessionId), gt(sessions.createdAt, since)));
  return fresh === undefined ? null : { ...fresh, hasPassword: fresh.passwordHash !== null };
}
