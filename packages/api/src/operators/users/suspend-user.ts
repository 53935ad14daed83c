import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { users } from '../../db/schema/accounts.ts';
import { sessions } from '../../db/schema/sessions.ts';
import { AppError } from '../../errors.ts';
import { endLinksOf } from '../../organisations/end-access.ts';
import type { Actor } from '../actor.ts';
import { readUser } from '../find-accounts.ts';
import { reasonDetails } from '../reason.ts';

type Input = { userId: string };

/**
 * Closes a user's account: its sessions and one-time links end at once, and no sign-in
 * succeeds until the account is restored.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the account is suspended already.
 */
export function suspendUser(
  app: App,
  { userId, reason }: Input & { reason?: string | undefined },
  actor: Actor,
): Promise<void> {
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
    await recordAudit(tx, now, { action: 'person-suspended', ...actor, userId, ...reasonDetails(reason) });
  });
}

/**
 * Ends a suspension. The sessions that it ended stay ended, and so do the links, the sign-up's aside.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the account is not suspended.
 */
export function restoreUser(app: App, { userId }: Input, actor: Actor): Promise<void> {
  return app.db.transaction(async (tx) => {
    const { email } = await readUser(tx, userId);
    const changed = await tx
      .update(users)
      .set({ suspendedAt: null })
      .where(and(eq(users.id, userId), isNotNull(users.suspendedAt)))
      .returning({ id: users.id });
    if (changed.length === 0) throw new AppError('VALIDATION', `${email} is not suspended.`);

    await recordAudit(tx, app.now(), { action: 'person-restored', ...actor, userId });
  });
}
