import { eq } from 'drizzle-orm';
import type { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { confirmingPassword, confirmUser } from '../../auth/password/fresh-sign-in.ts';
import type { Operator } from '../../auth/principal.ts';
import { lockUser } from '../../auth/sessions/account.ts';
import { eraseUser } from '../../members/leaving/erase-user.ts';
import { exportUser } from '../../members/leaving/export.ts';
import { keepKeysField } from '../../organisations/started.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import type { Actor } from '../actor.ts';
import { readUser } from '../find-accounts.ts';
import { shownTime } from '../read-entries.ts';
import { optionalReason } from '../reason.ts';
import { createPasswordLink } from './create-password-link.ts';
import { userInput } from './read-user.ts';
import { restoreUser, suspendUser } from './suspend-user.ts';

export const passwordLinkInput = userInput.extend({ password: confirmingPassword });
export const suspendUserInput = userInput.extend({ reason: optionalReason, keep_keys: keepKeysField });
export const restoreUserInput = userInput.extend({ suspended_at: shownTime });

/**
 * Creates a password link, which the operator gives to the user: no mail carries it. The operator is confirmed first.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED; UNAUTHENTICATED for a wrong password; FORBIDDEN for an operator's account;
 *   NOT_FOUND; VALIDATION if the account is closed or its address is unverified; TOO_MANY; BUSY if too many passwords are
 *   being hashed; INTERNAL without a canonical base URL.
 */
export async function createPasswordLinkFor(
  app: App,
  principal: Operator,
  { user_id: id, password }: z.output<typeof passwordLinkInput>,
  client: Client,
) {
  const { user } = principal;
  await confirmUser(app, principal, password, client);
  return { url: await createPasswordLink(app, { userId: id }, { actorId: user.id, client }) };
}

/**
 * Suspends a user, and stores the reason with the audit entry, for operators only.
 *
 * @throws AppError NOT_FOUND; VALIDATION for the operator's own account, or if it is suspended already.
 */
export async function suspend(
  app: App,
  principal: Operator,
  { user_id: id, reason, keep_keys: keepKeys }: z.output<typeof suspendUserInput>,
  client: Client,
) {
  const { user } = principal;
  if (user.id === id) throw new AppError('VALIDATION', 'You cannot suspend yourself.');
  const { at, ended } = await suspendUser(app, { userId: id, reason, keepKeys }, { actorId: user.id, client });
  return { ...(await readUser(app.db, id)), suspended_at: at.toISOString(), ended };
}

/**
 * Ends the suspension of a user that the operator's page showed.
 *
 * @throws AppError NOT_FOUND; VALIDATION if it has ended since.
 */
export async function restore(
  app: App,
  principal: Operator,
  { user_id: id, suspended_at: suspendedAt }: z.output<typeof restoreUserInput>,
  client: Client,
) {
  const { user } = principal;
  await restoreUser(app, { userId: id, suspendedAt }, { actorId: user.id, client });
  return readUser(app.db, id);
}

/** Ends all sessions of a user, or of all users without `userId`. Returns how many sessions ended. */
export function endSessions(app: App, { userId }: { userId?: string }, actor: Actor): Promise<number> {
  return app.db.transaction(async (tx) => {
    if (userId !== undefined) await lockUser(tx, userId);
    const ended = await tx
      .delete(sessions)
      .where(userId === undefined ? undefined : eq(sessions.userId, userId))
      .returning({ id: sessions.id });
    await recordAudit(tx, app.now(), { action: 'sessions-ended', ...actor, ...(userId !== undefined && { userId }) });
    return ended.length;
  });
}

/**
 * Erases a user at their request, whatever the account status, as `eraseUser` does. Returns the slugs of the organisations that ended with the account.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the user alone owns an organisation with other members,
 *   unless `withMembers`; BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or BUSY if a subscription cannot
 *   be ended; BUSY if the organisations changed meanwhile.
 */
export async function eraseOnRequest(
  app: App,
  { userId, withMembers = false, keepKeys = false }: { userId: string; withMembers?: boolean; keepKeys?: boolean },
  { actorId, client }: Actor,
): Promise<{ slugs: string[] }> {
  const erased = await eraseUser(app, { userId }, { actorId, client, withMembers, keepKeys });
  if (erased === null) throw new AppError('NOT_FOUND', 'There is no such person.');
  return erased;
}

/**
 * Returns everything that is stored about a user, at their request, whatever the account status. The
 * audit log records the actor.
 *
 * @throws AppError NOT_FOUND.
 */
export async function exportOnRequest(app: App, { userId }: { userId: string }, actor: Actor) {
  const data = await exportUser(app, userId);
  if (data === null) throw new AppError('NOT_FOUND', 'There is no such person.');
  await recordAudit(app.db, app.now(), { action: 'data-exported', ...actor, userId });
  return data;
}
