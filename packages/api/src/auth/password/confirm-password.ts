import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { AppError } from '../../platform/errors.ts';
import { type Message, message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { verifyPassword } from '../../platform/security/password.ts';
import { countFailures, passwordLimits } from '../../platform/security/throttle.ts';
import type { UserPrincipal } from '../principal.ts';

/**
 * Confirms the user's password before an irreversible action. Failures count like those of a
 * sign-in from a known browser: guesses in an unattended session are limited, and failures
 * elsewhere do not prevent the user from confirming.
 *
 * @returns the hash that the password matched, so that the caller can detect a concurrent change.
 * @throws AppError UNAUTHENTICATED with the field if the password is wrong; TOO_MANY;
 *   BUSY if too many passwords are being hashed.
 */
export async function confirmPassword(
  app: App,
  { user, sessionId }: UserPrincipal,
  { field, password, wrong }: { field: string; password: string; wrong?: Message },
  client: Client,
): Promise<string> {
  const taken = passwordLimits({ email: user.email, client, knownAs: sessionId });
  const { passwordHash, right } = await countFailures(app.throttle, taken, async () => {
    const passwordHash = await readPasswordHash(app.db, user.id);
    return { passwordHash, right: await verifyPassword(passwordHash, password, client) };
  });
  if (!right || passwordHash === null) {
    await recordAudit(app.db, app.now(), {
      action: 'password-check-failed',
      actorId: user.id,
      userId: user.id,
      client,
    });
    throw wrongPassword(field, wrong);
  }
  return passwordHash;
}

/** Returns the AppError UNAUTHENTICATED for a wrong password, with the name of its field. */
export function wrongPassword(field: string, sentence = message('wrong_password')): AppError {
  return new AppError('UNAUTHENTICATED', sentence, { fields: { [field]: sentence } });
}

/** Returns the hash of a user's password; null for a user without one, and for one who was deleted. */
export async function readPasswordHash(db: Executor, userId: string): Promise<string | null> {
  const [own] = await db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, userId));
  return own?.passwordHash ?? null;
}
