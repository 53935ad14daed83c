import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { confirmPassword } from '../password/confirm-password.ts';
import { readPasswordHash } from '../password/read-password-hash.ts';
import { isRecentSignIn, requireRecentSignIn } from '../password/recent-sign-in.ts';
import type { UserPrincipal } from '../principal.ts';
import { deleteOtherSessions, deleteSessionById } from '../sessions/session.ts';

/** Required if the sign-in is older than 15 minutes. */
const password = z.string({ error: 'Enter your password.' }).optional();

export const endSessionInput = z.object({ id: z.uuid('There is no such session.'), password });
export const endOtherSessionsInput = z.object({ password }).optional();

/**
 * Ends one session of a user, by the id that /account shows. Allowed while the account awaits
 * approval.
 *
 * @throws AppError NOT_FOUND if the user has no such session; VALIDATION, UNAUTHENTICATED,
 *   FORBIDDEN, TOO_MANY or BUSY if it is another session and the user is not confirmed.
 */
export async function endSession(
  app: App,
  principal: UserPrincipal,
  { id, password }: z.output<typeof endSessionInput>,
  client: Client,
): Promise<void> {
  // Ending the current session is a sign-out, which needs no confirmation.
  if (id !== principal.sessionId) await confirm(app, principal, password, client);

  await app.db.transaction(async (tx) => {
    if (!(await deleteSessionById(tx, principal.user.id, id)))
      throw new AppError('NOT_FOUND', 'There is no such session.');
    await recordEnd(app, tx, principal, client);
  });
}

/**
 * Ends all other sessions of a user. Allowed while the account awaits approval.
 *
 * @throws AppError VALIDATION, UNAUTHENTICATED, FORBIDDEN, TOO_MANY or BUSY if the user is not confirmed.
 */
export async function endOtherSessions(
  app: App,
  principal: UserPrincipal,
  input: z.output<typeof endOtherSessionsInput>,
  client: Client,
): Promise<void> {
  await confirm(app, principal, input?.password, client);

  await app.db.transaction(async (tx) => {
    await deleteOtherSessions(tx, principal.user.id, principal.sessionId);
    await recordEnd(app, tx, principal, client);
  });
}

/** An unattended or stolen session must not be enough to end the user's other sessions. */
async function confirm(
  app: App,
  principal: UserPrincipal,
  password: string | undefined,
  client: Client,
): Promise<void> {
  if (await isRecentSignIn(app, principal)) return;
  const hash = await readPasswordHash(app.db, principal.user.id);
  if (hash === null) return requireRecentSignIn(app, principal);
  if (!password) throw invalid({ password: 'Enter your password.' });
  await confirmPassword(app, principal, { field: 'password', password }, client);
}

async function recordEnd(app: App, tx: Transaction, { user }: UserPrincipal, client: Client): Promise<void> {
  await recordAudit(tx, app.now(), { action: 'session-ended', actorId: user.id, userId: user.id, client });
}
