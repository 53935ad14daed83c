import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { users } from '../../db/schema/accounts.ts';
import { AppError } from '../../errors.ts';
import type { Client } from '../../security/client.ts';
import { countFailures } from '../../security/count-failures.ts';
import { verifyPassword } from '../../security/password.ts';
import { passwordLimits } from '../../security/sign-in-limits.ts';
import type { Principal } from '../../sessions/principal.ts';

/**
 * Makes sure that whoever sits at a session knows its password, before something that
 * cannot be taken back. Counts like a sign-in from a known browser, so that nobody can guess at a
 * session left open, and failures elsewhere keep nobody from confirming.
 *
 * @returns the hash that the password was held against, for whoever then changes it.
 * @throws AppError UNAUTHENTICATED, with the field; TOO_MANY.
 */
export async function confirmPassword(
  app: App,
  { user, sessionId }: Principal,
  { field, password }: { field: string; password: string },
  client: Client,
): Promise<string> {
  const taken = passwordLimits({ email: user.email, client: client.address, knownAs: sessionId });
  const { passwordHash, right } = await countFailures(app.throttle, taken, async () => {
    const [own] = await app.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, user.id));
    const passwordHash = own?.passwordHash ?? null;
    return { passwordHash, right: await verifyPassword(passwordHash, password, client) };
  });
  if (!right || passwordHash === null) {
    await recordAudit(app.db, app.now(), { action: 'sign-in-failed', actorId: user.id, userId: user.id, client });
    throw wrong(field);
  }
  return passwordHash;
}

export function wrong(field: string): AppError {
  const sentence = 'This password is wrong.';
  return new AppError('UNAUTHENTICATED', sentence, { fields: { [field]: sentence } });
}
