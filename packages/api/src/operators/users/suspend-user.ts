import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import type { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { endStepsAndTrust, endTrust } from '../../auth/factors/step-attempt.ts';
import type { Operator } from '../../auth/principal.ts';
import { lockUser } from '../../auth/sessions/account.ts';
import { recordChange } from '../../changes/record-change.ts';
import { endLinksOf } from '../../organisations/end-access.ts';
import { type Ended, endStarted, keepKeysField } from '../../organisations/started.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { type Actor, inConsole, optionalReason, reasonDetails, shownTime } from '../actor.ts';
import { readUser } from '../find-accounts.ts';
import { userInput } from './read-users.ts';

export const suspendUserInput = userInput
  .extend({ reason: optionalReason, keep_keys: keepKeysField })
  .transform(({ user_id: userId, reason, keep_keys: keepKeys }) => ({ userId, reason, keepKeys }));
export const restoreUserInput = userInput
  .extend({ suspended_at: shownTime })
  .transform(({ user_id: userId, suspended_at: suspendedAt }) => ({ userId, suspendedAt }));

/**
 * Closes a user's account: its sessions and one-time links end at once, with the invitations and links that the user
 * made and, unless they are kept, the API keys. No sign-in succeeds until the account is restored. The reason is stored
 * with the audit entry, for operators only.
 *
 * @returns the user, the time of the suspension, and what ended.
 * @throws AppError NOT_FOUND; VALIDATION for the operator's own account, or if it is suspended already.
 */
export async function suspendUser(
  app: App,
  { userId, reason, keepKeys = false }: { userId: string; reason?: string | undefined; keepKeys?: boolean | undefined },
  actor: Actor,
): Promise<{ id: string; email: string; suspended_at: string; ended: Ended }> {
  if (actor.actorId === userId) throw new AppError('VALIDATION', message('own_suspension'));

  return app.db.transaction(async (tx) => {
    const closed = await closeUser(app, tx, { userId, reason, keepKeys }, actor);
    const { email } = await readUser(tx, userId);
    if (closed === null) throw new AppError('VALIDATION', message('suspended_already', { name: email }));
    return { id: userId, email, suspended_at: closed.at.toISOString(), ended: closed.ended };
  });
}

/** Suspends a user, as `suspendUser` does. Returns null, and changes nothing, if the user is suspended already. */
export async function closeUser(
  app: App,
  tx: Transaction,
  { userId, reason, keepKeys = false }: { userId: string; reason?: string | undefined; keepKeys?: boolean | undefined },
  actor: Actor,
): Promise<{ at: Date; ended: Ended } | null> {
  const now = app.now();
  const changed = await tx
    .update(users)
    .set({ suspendedAt: now })
    .where(and(eq(users.id, userId), isNull(users.suspendedAt)))
    .returning({ id: users.id });
  if (changed.length === 0) return null;

  await tx.delete(sessions).where(eq(sessions.userId, userId));
  await endStepsAndTrust(app, tx, userId);
  await endLinksOf(tx, [userId], now);
  const keys = keepKeys ? 'keep' : 'revoke';
  const ended = await endStarted(tx, now, { userId, of: 'everything', keys, actor });
  await recordAudit(tx, now, { action: 'person-suspended', ...actor, userId, ...reasonDetails(reason) });
  await recordChange(tx, now, { type: 'user.suspended', userId });
  return { at: now, ended };
}

/**
 * Ends a suspension: any, or the one that the operator's page showed. The sessions and links that it ended stay ended.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the account is not suspended, or with `suspendedAt` not
 *   since then.
 */
export function restoreUser(
  app: App,
  { userId, suspendedAt }: { userId: string; suspendedAt?: Date | undefined },
  actor: Actor,
): Promise<{ id: string; email: string }> {
  return app.db.transaction(async (tx) => {
    const isReopened = await reopenUser(app, tx, { userId, suspendedAt }, actor);
    const { email } = await readUser(tx, userId);
    if (isReopened) return { id: userId, email };
    throw new AppError('VALIDATION', message(suspendedAt ? 'restored_since' : 'not_suspended', { name: email }));
  });
}

/** Ends a suspension, as `restoreUser` does. Returns false, and changes nothing, if there is none. */
export async function reopenUser(
  app: App,
  tx: Transaction,
  { userId, suspendedAt }: { userId: string; suspendedAt?: Date | undefined },
  actor: Actor,
): Promise<boolean> {
  const suspendedThen = suspendedAt ? eq(users.suspendedAt, suspendedAt) : isNotNull(users.suspendedAt);
  const changed = await tx
    .update(users)
    .set({ suspendedAt: null })
    .where(and(eq(users.id, userId), suspendedThen))
    .returning({ id: users.id });
  if (changed.length === 0) return false;

  await recordAudit(tx, app.now(), { action: 'person-restored', ...actor, userId });
  await recordChange(tx, app.now(), { type: 'user.restored', userId });
  return true;
}

/** Ends all sessions of a user, or of all users without `userId`. Returns how many sessions ended. */
export function endSessions(app: App, which: { userId?: string }, actor: Actor): Promise<number> {
  return app.db.transaction((tx) => endSessionsOf(app, tx, which, actor));
}

/** Ends sessions in the caller's transaction, as `endSessions` does. */
export async function endSessionsOf(
  app: App,
  tx: Transaction,
  { userId }: { userId?: string },
  actor: Actor,
): Promise<number> {
  if (userId !== undefined) await lockUser(tx, userId);
  const ended = await tx
    .delete(sessions)
    .where(userId === undefined ? undefined : eq(sessions.userId, userId))
    .returning({ id: sessions.id });
  await endTrust(tx, userId);
  await recordAudit(tx, app.now(), { action: 'sessions-ended', ...actor, ...(userId !== undefined && { userId }) });
  return ended.length;
}

/** Signs a user out everywhere, in the console. @throws AppError NOT_FOUND. */
export async function endSessionsInConsole(
  app: App,
  principal: Operator,
  { user_id: userId }: z.output<typeof userInput>,
  client: Client,
): Promise<{ email: string; ended: number }> {
  const { email } = await readUser(app.db, userId);
  return { email, ended: await endSessions(app, { userId }, inConsole(principal, client)) };
}
