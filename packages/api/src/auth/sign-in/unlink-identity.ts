import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { confirmPassword, readPasswordHash, wrongPassword } from '../password/confirm-password.ts';
import type { Approved } from '../principal.ts';

export const unlinkIdentityInput = z.object({
  password: z.string({ error: zodMessage('enter_password') }).min(1, zodMessage('enter_password')),
});

/**
 * Unlinks the identity provider, after the user's password is confirmed. The subject is
 * remembered and refused until the user connects one again, and the sessions that it
 * opened end, the user's own included.
 *
 * @returns whether the user's own session ended, and the hash of the confirmed password, by which
 *   the caller starts a new session.
 * @throws AppError VALIDATION if no subject is linked, or there is no password; UNAUTHENTICATED
 *   if the password is wrong; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function unlinkIdentity(
  app: App,
  principal: Approved,
  { password }: z.output<typeof unlinkIdentityInput>,
  client: Client,
): Promise<{ ownSessionEnded: boolean; passwordHash: string }> {
  const userId = principal.user.id;
  if ((await readPasswordHash(app.db, userId)) === null) {
    throw new AppError('VALIDATION', message('set_password_first'));
  }
  const passwordHash = await confirmPassword(app, principal, { field: 'password', password }, client);

  return app.db.transaction(async (tx) => {
    const [locked] = await tx
      .select({ passwordHash: users.passwordHash })
      .from(users)
      .where(eq(users.id, userId))
      .for('update');
    if (locked?.passwordHash !== passwordHash) throw wrongPassword('password');
    const unlinked = await unlinkFrom(app, tx, { actorId: userId, userId, client });
    if (unlinked === null) throw new AppError('VALIDATION', message('no_identity_connected'));

    const ended = await tx
      .delete(sessions)
      .where(and(eq(sessions.userId, userId), eq(sessions.idpSubject, unlinked.subject)))
      .returning({ id: sessions.id });
    return { ownSessionEnded: ended.some(({ id }) => id === principal.sessionId), passwordHash };
  });
}

type Unlinking = { actorId?: string; userId: string; client: Client };

/**
 * Unlinks a user's connected identity. The subject is remembered and refused until the user connects one again. Returns
 * its row; null if there is none. Without an actor, a link of a mail or of an operator proved who the user is.
 */
export async function unlinkFrom(app: App, tx: Transaction, { userId, ...by }: Unlinking) {
  const [unlinked] = await tx
    .update(identities)
    .set({ unlinkedAt: app.now() })
    .where(and(eq(identities.userId, userId), isNull(identities.unlinkedAt)))
    .returning();
  if (unlinked !== undefined) await recordAudit(tx, app.now(), { action: 'identity-unlinked', userId, ...by });
  return unlinked ?? null;
}
