import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { type Ended, endStarted, revokeKeysField } from '../../organisations/started.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { oneTimeTokens, users } from '../../platform/db/schema/accounts.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { hashPassword } from '../../platform/security/password.ts';
import { newPasswordField, type Password } from '../../platform/security/password-rules.ts';
import { endStepsAndTrust } from '../factors/step-attempt.ts';
import type { UserPrincipal } from '../principal.ts';
import { lockUser } from '../sessions/account.ts';
import { deleteOtherSessions, renewSession } from '../sessions/session.ts';
import { endLinks } from '../verification/link.ts';
import { confirmPassword, readPasswordHash, wrongPassword } from './confirm-password.ts';
import { maySetPassword, requireFresh } from './fresh-sign-in.ts';
import { requireNewPassword } from './require-new-password.ts';

export const changePasswordInput = z.object({
  current_password: z
    .string({ error: zodMessage('enter_current_password') })
    .min(1, zodMessage('enter_current_password')),
  password: newPasswordField,
  revoke_keys: revokeKeysField,
});

export const setFirstPasswordInput = z.object({ password: newPasswordField, revoke_keys: revokeKeysField });

/** A session's new token, for its cookie, and what ended with the old password. */
type Changed = { token: string; ended: Ended };

/**
 * Changes a user's password. All other sessions of the user and their one-time links end, and so do the invitations
 * and password links that they made; API keys that they made stay, unless they say otherwise. The current session gets
 * a new token. Allowed for accounts that await approval.
 *
 * @throws AppError UNAUTHENTICATED if the current password is wrong; VALIDATION if the new one is
 *   not accepted; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function changePassword(
  app: App,
  principal: UserPrincipal,
  { current_password: current, password, revoke_keys: revokesKeys = false }: z.output<typeof changePasswordInput>,
  client: Client,
): Promise<Changed> {
  const before = await confirmPassword(app, principal, { field: 'current_password', password: current }, client);
  const passwordHash = await hashNew(app, principal, password, client);

  return app.db.transaction(async (tx) => {
    // Replaces only the confirmed password, so that a concurrent change is not overwritten.
    const changed = await tx
      .update(users)
      .set({ passwordHash })
      .where(and(eq(users.id, principal.user.id), eq(users.passwordHash, before)))
      .returning({ id: users.id });
    if (changed.length === 0) throw wrongPassword('current_password');
    return endAccessAndRecord(app, tx, principal, { revokesKeys, client });
  });
}

/**
 * Sets a password for a user who has none, or who lost it and has just signed in through the identity
 * provider, so that an unattended session is not enough to take over the account. Sessions and links end as
 * with `changePassword`.
 *
 * @throws AppError UNAUTHENTICATED if the session has ended meanwhile; FRESH_SIGN_IN_REQUIRED; VALIDATION if there is a
 *   password and the user has not just signed in through the identity provider, or the new password is not accepted;
 *   BUSY if too many passwords are being hashed.
 */
export async function setFirstPassword(
  app: App,
  principal: UserPrincipal,
  { password, revoke_keys: revokesKeys = false }: z.output<typeof setFirstPasswordInput>,
  client: Client,
): Promise<Changed> {
  await requireMaySetPassword(app, app.db, principal);
  const passwordHash = await hashNew(app, principal, password, client);

  return app.db.transaction(async (tx) => {
    // A concurrent change of the password ends this session, which the check below detects.
    await lockUser(tx, principal.user.id);
    await requireMaySetPassword(app, tx, principal);
    await tx.update(users).set({ passwordHash }).where(eq(users.id, principal.user.id));
    return endAccessAndRecord(app, tx, principal, { revokesKeys, client });
  });
}

async function requireMaySetPassword(app: App, db: Executor, principal: UserPrincipal): Promise<void> {
  if (await maySetPassword(app, db, principal)) return;
  if ((await readPasswordHash(db, principal.user.id)) === null) requireFresh(app, principal);
  throw new AppError('VALIDATION', message('password_exists'));
}

async function hashNew(app: App, { user }: UserPrincipal, password: Password, client: Client): Promise<string> {
  await requireNewPassword(app, password, user.email);
  return hashPassword(password, client);
}

async function endAccessAndRecord(
  app: App,
  tx: Transaction,
  { user, sessionId }: UserPrincipal,
  { revokesKeys, client }: { revokesKeys: boolean; client: Client },
): Promise<Changed> {
  await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, user.id));
  await deleteOtherSessions(tx, user.id, sessionId);
  await endStepsAndTrust(app, tx, user.id);
  const keys = revokesKeys ? 'revoke' : 'keep';
  const actor = { actorId: user.id, client };
  const ended = await endStarted(tx, app.now(), { userId: user.id, of: 'everything', keys, actor });
  await endLinks(tx, user.id, app.now());
  const renewed = await renewSession(tx, { userId: user.id, sessionId });
  if (renewed === null) throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
  await recordAudit(tx, app.now(), { action: 'password-set', actorId: user.id, userId: user.id, client });
  return { token: renewed, ended };
}
