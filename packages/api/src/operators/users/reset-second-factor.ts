import { eq } from 'drizzle-orm';
import type { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { userHasFactor } from '../../auth/factors/has-factor.ts';
import { endStepsAndTrust } from '../../auth/factors/step-attempt.ts';
import { requireFresh } from '../../auth/password/fresh-sign-in.ts';
import type { Operator } from '../../auth/principal.ts';
import { lockUser } from '../../auth/sessions/account.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { passkeys, recoveryCodes, totpSecrets } from '../../platform/db/schema/factors.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { type Actor, inConsole } from '../actor.ts';
import { isOperator, lockOperator, readUser } from '../find-accounts.ts';
import type { userInput } from './read-users.ts';

/**
 * Takes every second factor away from a user who lost them: passkeys, authenticator app, recovery codes and the trust in
 * browsers. All sessions and begun sign-ins end; from then on the password opens one alone. A review of the factors that
 * the user owes ends too, because only a factor could answer it. The user's recent activity shows the reset.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the user has no second factor; FORBIDDEN for an operator's account in the
 *   console.
 */
export function resetSecondFactor(
  app: App,
  { userId }: { userId: string },
  actor: Pick<Actor, 'actorId' | 'client'>,
  inConsoleBy: Operator | null = null,
): Promise<void> {
  return app.db.transaction(async (tx) => {
    if (inConsoleBy !== null) await lockOperator(tx, inConsoleBy, [userId]);
    const { email } = await readUser(tx, userId);
    // An operator with a stolen session of another one must not turn it into their account.
    if (inConsoleBy !== null && (await isOperator(tx, userId)))
      throw new AppError('FORBIDDEN', message('operator_factor_by_command'));
    await lockUser(tx, userId);
    if (!(await userHasFactor(tx, userId))) throw new AppError('VALIDATION', `${email} has no second factor.`);

    await tx.delete(passkeys).where(eq(passkeys.userId, userId));
    await tx.delete(totpSecrets).where(eq(totpSecrets.userId, userId));
    await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
    await tx.update(users).set({ reviewSince: null }).where(eq(users.id, userId));
    await tx.delete(sessions).where(eq(sessions.userId, userId));
    await endStepsAndTrust(app, tx, userId);
    await recordAudit(tx, app.now(), { action: 'second-factor-reset', ...actor, userId });
  });
}

/**
 * Takes a user's second factors away in the console. The operator's session must be fresh by a factor of their own:
 * who has only a password must not be able to take the factor of another.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED; FORBIDDEN for an operator's account, without a factor of the operator's own,
 *   and if the mark ended meanwhile; NOT_FOUND; VALIDATION if the user has no second factor; UNAUTHENTICATED if the
 *   session ended meanwhile.
 */
export async function resetSecondFactorOf(
  app: App,
  principal: Operator,
  { user_id: userId }: z.output<typeof userInput>,
  client: Client,
): Promise<void> {
  if (!principal.hasFactor) throw new AppError('FORBIDDEN', message('own_factor_first'));
  requireFresh(app, principal);
  if (!principal.freshByFactor) throw new AppError('FRESH_SIGN_IN_REQUIRED', message('confirm_user'));
  const { actorId } = inConsole(principal, client);
  await resetSecondFactor(app, { userId }, { actorId, client }, principal);
}
