import { and, eq, gt, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../platform/db/client.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import type { UserPrincipal } from '../principal.ts';

/** For this many minutes a sign-in counts as recent. */
const recentMinutes = 15;

/** @throws AppError FORBIDDEN if the session did not begin in the last 15 minutes. */
export async function requireRecentSignIn(app: App, principal: UserPrincipal): Promise<void> {
  if (!(await isRecentSignIn(app, principal))) {
    throw new AppError('FORBIDDEN', 'Sign out, sign in again, and come back here.');
  }
}

/** Whether the session began in the last 15 minutes. */
export async function isRecentSignIn(app: App, principal: UserPrincipal): Promise<boolean> {
  return (await recentSession(app, app.db, principal)) !== null;
}

/**
 * Whether a password may be set without the current one: after a recent sign-in, if the user
 * has no password or signed in through the identity that is still linked.
 */
export async function maySetPassword(app: App, db: Executor, principal: UserPrincipal): Promise<boolean> {
  const session = await recentSession(app, db, principal);
  if (session === null) return false;
  return !session.hasPassword || (session.idpSubject !== null && session.idpSubject === session.linkedSubject);
}

async function recentSession(app: App, db: Executor, { sessionId }: UserPrincipal) {
  const since = new Date(app.now().getTime() - recentMinutes * minuteMilliseconds);
  const [recent] = await db
    .select({ idpSubject: sessions.idpSubject, linkedSubject: identities.subject, passwordHash: users.passwordHash })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(identities, and(eq(identities.userId, users.id), isNull(identities.unlinkedAt)))
    .where(and(eq(sessions.id, sessionId), gt(sessions.createdAt, since)));
  return recent === undefined ? null : { ...recent, hasPassword: recent.passwordHash !== null };
}
