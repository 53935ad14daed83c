import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { clientSignInLimits } from '../../platform/security/throttle.ts';
import { passkeyField, refusedPasskey, takePasskey, type VerifiedPasskey, verifyPasskey } from '../factors/passkeys.ts';
import { accountById, lockUnchangedAccount, lockUser } from '../sessions/account.ts';
import { tokenForBrowser } from '../sessions/known-browser.ts';
import { insertSession } from '../sessions/session.ts';
import { countSignIn } from './count-sign-in.ts';
import type { Begun } from './open-session.ts';

export const passkeySignInInput = z.object({ passkey: passkeyField });

/**
 * Signs a user in by a passkey alone: it is two factors, because the authenticator has verified its user. The session
 * is fresh.
 *
 * @throws AppError UNAUTHENTICATED if it is not accepted, or opens no session by itself until the account's factors are
 *   reviewed; FORBIDDEN if the account is closed; TOO_MANY.
 */
export function signInWithPasskey(
  app: App,
  { passkey }: z.output<typeof passkeySignInInput>,
  challengeCookie: string | null,
  client: Client,
): Promise<Begun> {
  return countSignIn(app, 'passkey', async () => {
    const verified = await verifyPasskey(app, passkey, challengeCookie, client);
    const browser = await tokenForBrowser(app, client.knownBrowser ?? null);
    const begun = await app.db.transaction(async (tx): Promise<Begun | null> => {
      const { userId } = verified;
      if (!(await lockUser(tx, userId))) return null;
      const account = await accountById(tx, userId);
      if (account?.accountStatus === 'closed') throw new AppError('FORBIDDEN', message('account_closed'));
      if (account === null || account.user.reviewSince !== null) return null;
      if (!(await takePasskey(app, tx, verified, client))) return null;

      const { organisationId } = account;
      const locked = await lockUnchangedAccount(tx, { userId, organisationId, passwordHash: null, idpSubject: null });
      const start = { userId, organisationId: locked.organisationId, client, browserHash: browser.hash };
      const token = await insertSession(app, tx, { ...start, byPasskey: true, fresh: true, freshByFactor: true });
      return { token, browserToken: browser.token };
    });
    if (begun === null) throw await refused(app, verified, client);
    return begun;
  });
}

/** A right signature that counts for nothing: it was used before, or must not open a session. */
async function refused(app: App, { userId }: VerifiedPasskey, client: Client): Promise<AppError> {
  await app.throttle.take(clientSignInLimits(client));
  await recordAudit(app.db, app.now(), { action: 'sign-in-failed', userId, client });
  return refusedPasskey();
}
