import { and, eq, gt, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Executor } from '../../platform/db/client.ts';
import { identities } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import type { UserPrincipal } from '../principal.ts';
import { lockUser } from '../sessions/account.ts';
import { freshMilliseconds, renewSession } from '../sessions/session.ts';
import { confirmPassword, readPasswordHash } from './confirm-password.ts';

export const freshSignInInput = z.object({
  password: z.string({ error: 'Enter your password.' }).min(1, 'Enter your password.'),
});

/**
 * Makes the session fresh by the user's password: the 15 minutes begin, and the session gets a new token and loses its
 * shared one, so that a copy of the old cookie gains nothing. Allowed while the account awaits approval.
 *
 * @returns the session's new token, for its cookie.
 * @throws AppError UNAUTHENTICATED if the password is wrong or the session has ended; TOO_MANY; BUSY if too many
 *   passwords are being hashed.
 */
export async function signInFresh(
  app: App,
  principal: UserPrincipal,
  { password }: z.output<typeof freshSignInInput>,
  client: Client,
): Promise<string> {
  const { user, sessionId } = principal;
  const wrong = 'E-mail or password is wrong.';
  const proven = await confirmPassword(app, principal, { field: 'password', password, wrong }, client);

  return app.db.transaction(async (tx) => {
    await lockUser(tx, user.id);
    if ((await readPasswordHash(tx, user.id)) !== proven) throw new AppError('UNAUTHENTICATED', wrong);
    const token = await renewSession(tx, { userId: user.id, sessionId, freshAt: app.now() });
    if (token === null) throw new AppError('UNAUTHENTICATED', 'Sign in first.');
    await recordAudit(tx, app.now(), { action: 'signed-in-again', actorId: user.id, userId: user.id, client });
    return token;
  });
}

/** Whether the user of the session signed in, or did so again, in the last 15 minutes. */
export function isFresh(app: App, { freshUntil }: Pick<UserPrincipal, 'freshUntil'>): boolean {
  return freshUntil !== null && freshUntil > app.now();
}

/** @throws AppError FRESH_SIGN_IN_REQUIRED unless the session is fresh. */
export function requireFresh(app: App, principal: Pick<UserPrincipal, 'freshUntil'>): void {
  if (!isFresh(app, principal)) throw new AppError('FRESH_SIGN_IN_REQUIRED', 'Confirm that it’s you to do this.');
}

/**
 * Confirms that the session is used by its owner, before what a copied cookie could turn into lasting power: by the
 * password where the form holds it, else by a fresh session.
 *
 * @throws AppError UNAUTHENTICATED, with the field `password`, if the password is wrong; VALIDATION if it is empty; FRESH_SIGN_IN_REQUIRED without
 *   one in a session that is not fresh; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function confirmUser(
  app: App,
  principal: UserPrincipal,
  password: string | undefined,
  client: Client,
): Promise<void> {
  if (!password) requireFresh(app, principal);
  if (password === undefined) return;
  // The form asks for it although the session is fresh, before what cannot be undone.
  if (password === '') throw invalid({ password: 'Enter your password.' });
  await confirmPassword(app, principal, { field: 'password', password }, client);
}

/** The password in a form that needs a fresh sign-in. It replaces one, for what the form does. */
export const confirmingPassword = z.string({ error: 'Enter your password.' }).optional();

/**
 * Whether a password may be set without the current one: in a fresh session of a user who has none, and right after a
 * sign-in through the identity that is still linked, because its user may have lost the password.
 */
export async function maySetPassword(app: App, db: Executor, principal: UserPrincipal): Promise<boolean> {
  const since = new Date(app.now().getTime() - freshMilliseconds);
  const [recent] = await db
    .select({ id: sessions.id })
    .from(sessions)
    .innerJoin(identities, and(eq(identities.userId, sessions.userId), eq(identities.subject, sessions.idpSubject)))
    .where(and(eq(sessions.id, principal.sessionId), gt(sessions.createdAt, since), isNull(identities.unlinkedAt)));
  if (recent !== undefined) return true;
  return isFresh(app, principal) && (await readPasswordHash(db, principal.user.id)) === null;
}
