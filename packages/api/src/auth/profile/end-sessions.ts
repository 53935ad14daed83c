import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { endTrust } from '../factors/step-attempt.ts';
import { confirmation, confirmUser } from '../password/fresh-sign-in.ts';
import type { UserPrincipal } from '../principal.ts';
import { lockUser } from '../sessions/account.ts';
import { deleteOtherSessions, deleteSessionById, requireExistingSession } from '../sessions/session.ts';

export const endSessionInput = z.object({ id: z.uuid(zodMessage('no_such_session')), ...confirmation });
export const endOtherSessionsInput = z.object(confirmation).optional();

/**
 * Ends one session of a user, by the id that /account shows. Allowed while the account awaits
 * approval.
 *
 * @throws AppError NOT_FOUND if the user has no such session; FRESH_SIGN_IN_REQUIRED, UNAUTHENTICATED,
 *   TOO_MANY or BUSY if it is another session and the user is not confirmed; UNAUTHENTICATED if the session has ended.
 */
export async function endSession(
  app: App,
  principal: UserPrincipal,
  { id, ...confirming }: z.output<typeof endSessionInput>,
  client: Client,
): Promise<void> {
  // Ending the current session is a sign-out. A stolen session must not be enough to end the user's other ones.
  if (id !== principal.sessionId) await confirmUser(app, principal, confirming, client);

  await app.db.transaction(async (tx) => {
    await lockUser(tx, principal.user.id);
    await requireExistingSession(tx, principal);
    if (!(await deleteSessionById(tx, principal.user.id, id)))
      throw new AppError('NOT_FOUND', message('no_such_session'));
    await recordEnd(app, tx, principal, client);
  });
}

/**
 * Ends all other sessions of a user. Allowed while the account awaits approval.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED, UNAUTHENTICATED, TOO_MANY or BUSY if the user is not confirmed;
 *   UNAUTHENTICATED if the session has ended.
 */
export async function endOtherSessions(
  app: App,
  principal: UserPrincipal,
  input: z.output<typeof endOtherSessionsInput>,
  client: Client,
): Promise<void> {
  await confirmUser(app, principal, input ?? {}, client);

  await app.db.transaction(async (tx) => {
    await lockUser(tx, principal.user.id);
    await requireExistingSession(tx, principal);
    await deleteOtherSessions(tx, principal.user.id, principal.sessionId);
    await endTrust(tx, principal.user.id);
    await recordEnd(app, tx, principal, client);
  });
}

async function recordEnd(app: App, tx: Transaction, { user }: UserPrincipal, client: Client): Promise<void> {
  await recordAudit(tx, app.now(), { action: 'session-ended', actorId: user.id, userId: user.id, client });
}
