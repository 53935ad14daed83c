import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../db/client.ts';
import { oneTimeTokens, users } from '../../db/schema/accounts.ts';
import { AppError, invalid } from '../../errors.ts';
import type { Client } from '../../security/client.ts';
import { hashPassword, newPasswordField, passwordFault } from '../../security/password.ts';
import { type Principal, requirePrincipal } from '../../sessions/principal.ts';
import { endOtherSessions, renewSession } from '../../sessions/session.ts';
import { lockUser } from '../profile/lock-user.ts';
import { endLinks } from '../verification/end-links.ts';
import { confirmPassword, wrong } from './confirm-password.ts';
import { endInvitations } from './end-invitations.ts';
import { maySetPassword, requireRecentSignIn } from './recent-sign-in.ts';

export const changePasswordInput = z.object({
  current_password: z.string({ error: 'Enter your current password.' }).min(1, 'Enter your current password.'),
  password: newPasswordField,
});

export const setFirstPasswordInput = z.object({ password: newPasswordField });

/**
 * Changes a user's password. All other sessions of the user, their one-time links and the
 * invitations that other sessions made end, and the session that asked has a new id. Open
 * to accounts that await approval.
 *
 * @returns the session's new id, for its cookie.
 * @throws AppError UNAUTHENTICATED for a wrong current password; VALIDATION; TOO_MANY.
 */
export async function changePassword(
  app: App,
  principal: Principal | null,
  { current_password: current, password }: z.output<typeof changePasswordInput>,
  client: Client,
): Promise<string> {
  const who = requirePrincipal(principal);
  const before = await confirmPassword(app, who, { field: 'current_password', password: current }, client);
  const passwordHash = await hashNew(app, who, password, client);

  return app.db.transaction(async (tx) => {
    // Only over the password that was confirmed: who was slower does not undo what was faster.
    const changed = await tx
      .update(users)
      .set({ passwordHash })
      .where(and(eq(users.id, who.user.id), eq(users.passwordHash, before)))
      .returning({ id: users.id });
    if (changed.length === 0) throw wrong('current_password');
    return afterwards(app, tx, who, client);
  });
}

/**
 * Sets a password where there is none, or in place of one that was lost where the sign-in
 * was through the identity provider, and in both cases shortly after it: a session that
 * somebody left open must not be enough to move in for good. Sessions and links end as above.
 *
 * @returns the session's new id, for its cookie.
 * @throws AppError FORBIDDEN where the sign-in is too long ago; VALIDATION where there is a
 *   password and it was by another way.
 */
export async function setFirstPassword(
  app: App,
  principal: Principal | null,
  { password }: z.output<typeof setFirstPasswordInput>,
  client: Client,
): Promise<string> {
  const who = requirePrincipal(principal);
  await requireRecentSignIn(app, who);
  const passwordHash = await hashNew(app, who, password, client);

  return app.db.transaction(async (tx) => {
    // Whoever changes the password meanwhile ends this session, and is seen.
    await lockUser(tx, who.user.id);
    if (!(await maySetPassword(app, tx, who))) {
      throw new AppError('VALIDATION', 'There is a password already. Change it instead.');
    }
    await tx.update(users).set({ passwordHash }).where(eq(users.id, who.user.id));
    return afterwards(app, tx, who, client);
  });
}

async function hashNew(app: App, { user }: Principal, password: string, client: Client): Promise<string> {
  const fault = await passwordFault(password, [user.email, app.config.service.name]);
  if (fault !== null) throw invalid({ password: fault });
  return hashPassword(password, client);
}

async function afterwards(app: App, tx: Transaction, { user, sessionId }: Principal, client: Client): Promise<string> {
  await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, user.id));
  await endOtherSessions(tx, user.id, sessionId);
  await endInvitations(tx, user.id, sessionId);
  await endLinks(tx, user.id, app.now());
  const renewed = await renewSession(tx, { userId: user.id, sessionId });
  if (renewed === null) throw new AppError('UNAUTHENTICATED', 'Sign in first.');
  await recordAudit(tx, app.now(), { action: 'password-set', actorId: user.id, userId: user.id, client });
  return renewed;
}
