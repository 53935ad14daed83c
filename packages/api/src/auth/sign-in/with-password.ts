import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { readAddress } from '../../platform/security/address.ts';
import type { Client } from '../../platform/security/client.ts';
import { isImported } from '../../platform/security/imported-hash.ts';
import { verifyPassword } from '../../platform/security/password.ts';
import { clientSignInLimits, countFailures, type Points, passwordLimits } from '../../platform/security/throttle.ts';
import { areHashesImported, replaceImported } from '../password/imported-passwords.ts';
import { type Account, accountByEmail } from '../sessions/account.ts';
import { isKnownBrowser } from '../sessions/known-browser.ts';
import { countSignIn } from './count-sign-in.ts';
import { takeTurn } from './take-turn.ts';

export const passwordSignInInput = z.object({
  email: z.string({ error: zodMessage('enter_your_email') }).min(1, zodMessage('enter_your_email')),
  password: z.string({ error: zodMessage('enter_password') }).min(1, zodMessage('enter_password')),
});

/**
 * Returns the user of an address and a password, with the address and the hash that the password matched. An unknown
 * address, a wrong password, and any password of an unverified account get the same answer after the
 * same work, so that the answer does not reveal whether the address has an account. While hashes of other systems are
 * stored, sign-ins to one address take turns (`takeTurn`); the right password replaces such a hash.
 *
 * @throws AppError UNAUTHENTICATED; FORBIDDEN if the password is right and the account is closed;
 *   TOO_MANY; BUSY if too many passwords are being hashed.
 */
export function signInWithPassword(
  app: App,
  input: z.output<typeof passwordSignInInput>,
  client: Client,
): Promise<{ userId: string; organisationId: string | null; email: string; passwordHash: string | null }> {
  return countSignIn(app, 'password', () => userWithPassword(app, input, client));
}

async function userWithPassword(
  app: App,
  { email: typed, password }: z.output<typeof passwordSignInInput>,
  client: Client,
) {
  const email = readAddress(typed) ?? '';
  const { taken, turnOf } = await limitsOf(app, email, client);
  const prove = () => proveIdentity(app, { email, password, taken }, client);
  return (await areHashesImported(app)) ? takeTurn(turnOf, prove) : prove();
}

type Attempt = { email: string; password: string; taken: Points };

async function proveIdentity(app: App, { email, password, taken }: Attempt, client: Client) {
  const { account, verified, right } = await countFailures(app.throttle, taken, async () => {
    const account = await accountByEmail(app.db, email);
    const verified = account !== null && account.user.emailVerifiedAt !== null;
    return {
      account,
      verified,
      right: await verifyPassword(verified ? account.user.passwordHash : null, password, client),
    };
  });
  if (account === null || !right) {
    // Recorded for unknown addresses too, so that the time of the answer does not differ.
    const userId = verified ? (account?.user.id ?? null) : null;
    await recordAudit(app.db, app.now(), { action: 'sign-in-failed', userId, client });
    throw new AppError('UNAUTHENTICATED', message('wrong_credentials'), { aboutUserId: userId });
  }
  if (account.accountStatus === 'closed') throw closed(app, account);

  const { id: userId, passwordHash: matched } = account.user;
  const isOwn = matched === null || !isImported(matched);
  const passwordHash = isOwn ? matched : await replaceImported(app, { userId, matched, password }, client);
  return { userId, organisationId: account.organisationId, email, passwordHash };
}

/** The error of a closed account. A page says why, because its reader has given the right password. */
function closed({ config }: App, { user, approval }: Account): AppError {
  const support = config.service.supportEmail;
  const values = { asks: support === null ? 'no' : 'yes', support: support ?? '' };
  const pageText =
    user.suspendedAt !== null
      ? message('sign_in_suspended', values)
      : approval === 'declined'
        ? message('sign_in_declined', values)
        : message('sign_in_organisation_suspended', values);
  return new AppError('FORBIDDEN', message('account_closed'), { aboutUserId: user.id, pageText });
}

/** Returns the limits of an attempt, and whose turn it takes. A browser that signed in before has limits and turns of its own. */
async function limitsOf(app: App, email: string, client: Client): Promise<{ taken: Points; turnOf: string }> {
  // Invalid addresses have no limit or turn of their own: they would share one, and lock each other out.
  if (email === '') return { taken: clientSignInLimits(client), turnOf: randomUUID() };
  const token = client.knownBrowser ?? null;
  const isKnown = await isKnownBrowser(app, app.db, { email, token });
  const taken = passwordLimits({ email, client, knownAs: isKnown ? token : null });
  return { taken, turnOf: isKnown ? `${email} ${token}` : email };
}
