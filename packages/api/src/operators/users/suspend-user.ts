import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordChange } from '../../changes/record-change.ts';
import { endLinksOf } from '../../organisations/end-access.ts';
import { type Ended, endStarted } from '../../organisations/started.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import type { Actor } from '../actor.ts';
import { readUser } from '../find-accounts.ts';
import { reasonDetails } from '../reason.ts';

type Input = { userId: string };

/**
 * Closes a user's account: its sessions and one-time links end at once, with the invitations and links that the user
 * made and, unless they are kept, the API keys. No sign-in succeeds until the account is restored.
 *
 * @returns the time of the suspension, and what ended.
 * @throws AppError NOT_FOUND; VALIDATION if the account is suspended already.
 */
export function suspendUser(
  app: App,
  { userId, reason, keepKeys = false }: Input & { reason?: string | undefined; keepKeys?: boolean | undefined },
  actor: Actor,
): Promise<{ at: Date; ended: Ended }> {
  return app.db.transaction(async (tx) => {
    const now = app.now();
    const { email } = await readUser(tx, userId);
    const changed = await tx
      .update(users)
      .set({ suspendedAt: now })
      .where(and(eq(users.id, userId), isNull(users.suspendedAt)))
      .returning({ id: users.id });
    if (changed.length === 0) throw new AppError('VALIDATION', `${email} is suspended already.`);

    await tx.delete(sessions).where(eq(sessions.userId, userId));
    await endLinksOf(tx, [userId], now);
    const keys = keepKeys ? 'keep' : 'revoke';
    const ended = await endStarted(tx, now, { userId, of: 'everything', keys, actor });
    await recordAudit(tx, now, { action: 'person-suspended', ...actor, userId, ...reasonDetails(reason) });
    await recordChange(tx, now, { type: 'user.suspended', userId });
    return { at: now, ended };
  });
}

/**
 * Ends a suspension. The sessions that it ended stay ended, and so do the links, the sign-up's aside.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the account is not suspended, or with `suspendedAt` not
 *   since then.
 */
export function restoreUser(
  app: App,
  { userId, suspendedAt }: Input & { suspendedAt?: Date | undefined },
  actor: Actor,
): Promise<void> {
  const suspendedThen = suspendedAt ? eq(users.suspendedAt, suspendedAt) : isNotNull(users.suspendedAt);

  return app.db.transaction(async (tx) => {
    const { email } = await readUser(tx, userId);
    const changed = await tx
      .update(users)
      .set({ suspendedAt: null })
      .where(and(eq(users.id, userId), suspendedThen))
      .returning({ id: users.id });
    if (changed.length === 0) {
      throw new AppError(
        'VALIDATION',
        suspendedAt ? `${email} was restored since this page was loaded.` : `${email} is not suspended.`,
      );
    }

    await recordAudit(tx, app.now(), { action: 'person-restored', ...actor, userId });
    await recordChange(tx, app.now(), { type: 'user.restored', userId });
  });
}
