import { z } from 'zod';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { AppError } from '../errors.ts';
import { readAddress } from '../security/address.ts';
import type { Client } from '../security/client.ts';
import { countFailures } from '../security/count-failures.ts';
import { verifyPassword } from '../security/password.ts';
import { clientSignInLimits, passwordLimits } from '../security/sign-in-limits.ts';
import { accountByEmail } from '../sessions/account.ts';
import { isKnownBrowser } from '../sessions/known-browser.ts';
import { recordSignIn } from './record-sign-in.ts';

export const passwordSignInInput = z.object({
  email: z.string({ error: 'Enter your e-mail address.' }).min(1, 'Enter your e-mail address.'),
  password: z.string({ error: 'Enter your password.' }).min(1, 'Enter your password.'),
});

/**
 * Who holds this address and password, with the hash that it was held against. An unknown address, a wrong password and any
 * password before the e-mail gate is open get the same answer after the same work:
 * another one would tell whether the address has an account.
 *
 * @throws AppError UNAUTHENTICATED; FORBIDDEN for the right password of a closed account; TOO_MANY.
 */
export function signInWithPassword(
  app: App,
  input: z.output<typeof passwordSignInInput>,
  client: Client,
): Promise<{ userId: string; organisationId: string | null; passwordHash: string | null }> {
  return recordSignIn(app, 'password', () => holderOf(app, input, client));
}

async function holderOf(app: App, { email: typed, password }: z.output<typeof passwordSignInInput>, client: Client) {
  const email = readAddress(typed) ?? '';
  const taken = await limitsOf(app, email, client);
  const { person, verified, right } = await countFailures(app.throttle, taken, async () => {
    const person = await accountByEmail(app.db, email);
    const verified = person !== null && person.user.emailVerifiedAt !== null;
    return {
      person,
      verified,
      right: await verifyPassword(verified ? person.user.passwordHash : null, password, client),
    };
  });
  if (person === null || !right) {
    // Written down for unknown addresses too: a row more would take its time, and tell.
    const userId = verified ? (person?.user.id ?? null) : null;
    await recordAudit(app.db, app.now(), { action: 'sign-in-failed', userId, client });
    throw new AppError('UNAUTHENTICATED', 'E-mail or password is wrong.');
  }
  if (person.accountStatus === 'closed') throw new AppError('FORBIDDEN', 'This account is closed.');

  const { id: userId, passwordHash } = person.user;
  return { userId, organisationId: person.organisationId, passwordHash };
}

async function limitsOf(app: App, email: string, { address, knownBrowser = null }: Client) {
  // What is no address has no limit of its own, or one person's slips would count for everybody's.
  if (email === '') return clientSignInLimits(address);
  const isKnown = await isKnownBrowser(app, app.db, { email, token: knownBrowser });
  return passwordLimits({ email, client: address, knownAs: isKnown ? knownBrowser : null });
}
