import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { userHasFactor } from '../../auth/factors/has-factor.ts';
import { endStepsAndTrust } from '../../auth/factors/step-attempt.ts';
import { lockUser } from '../../auth/sessions/account.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { passkeys, recoveryCodes, totpSecrets } from '../../platform/db/schema/factors.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import type { CommandLine } from '../actor.ts';
import { readUser } from '../find-accounts.ts';

/**
 * Takes every second factor away from a user who lost them: passkeys, authenticator app, recovery codes and the trust in
 * browsers. All sessions and begun sign-ins end; from then on the password opens one alone. A review of the factors that
 * the user owes ends too, because only a factor could answer it. The user's recent activity shows the reset.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the user has no second factor.
 */
export function resetSecondFactor(app: App, { userId }: { userId: string }, actor: CommandLine): Promise<void> {
  return app.db.transaction(async (tx) => {
    const { email } = await readUser(tx, userId);
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
