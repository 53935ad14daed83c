import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { record } from '../audit/record.ts';
import { users } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import { clientKey } from '../security/client-key.ts';
import { countFailures } from '../security/count-failures.ts';
import { verifyPassword } from '../security/password.ts';
import type { Principal } from '../sessions/principal.ts';

/**
 * Makes sure that whoever sits at a session knows its password, before something that
 * cannot be taken back. Counts like a sign-in, so a session left open is no place to guess.
 *
 * @returns the hash that the password was held against, for whoever then changes it.
 * @throws Refusal UNAUTHENTICATED, with the field; TOO_MANY.
 */
export async function confirmPassword(
  app: App,
  { user }: Principal,
  { field, password }: { field: string; password: string },
  client: { address: string; userAgent: string | null },
): Promise<string> {
  const taken = {
    'sign-in-client': clientKey(client.address),
    'sign-in-pair': `${user.email} ${clientKey(client.address)}`,
    'sign-in-address': user.email,
  };
  const { passwordHash, right } = await countFailures(app.throttle, taken, async () => {
    const [own] = await app.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, user.id));
    const passwordHash = own?.passwordHash ?? null;
    return { passwordHash, right: await verifyPassword(passwordHash, password) };
  });
  if (!right || passwordHash === null) {
    await record(app.db, app.now(), { action: 'sign-in-failed', actorId: user.id, userId: user.id, client });
    throw wrong(field);
  }
  return passwordHash;
}

export function wrong(field: string): Refusal {
  const sentence = 'This password is wrong.';
  return new Refusal('UNAUTHENTICATED', sentence, { fields: { [field]: sentence } });
}
