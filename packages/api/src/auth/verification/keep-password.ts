import { z } from 'zod';
import type { App } from '../../app.ts';
import { approveByAddress } from '../../organisations/approve.ts';
import type { Transaction } from '../../platform/db/client.ts';
import type { signUps } from '../../platform/db/schema/accounts.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { consumeOneTimeToken } from '../password/one-time-token.ts';
import { replacePassword } from '../password/set-password.ts';
import { settleOrganisation, signUpOf } from '../sign-up/pending-sign-up.ts';
import { linkOfPageToken } from './link.ts';

export const keepPasswordInput = z.object({ token: z.string({ error: zodMessage('link_no_longer_valid') }) });

/**
 * Makes the password and the organisation's name of a sign-up valid after another program (a
 * mail scanner) opened its link first. The token of the link's page proves access to the
 * mailbox, and the cookie of the sign-up proves that the password was typed in this browser.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired, the browser is not that
 *   of the sign-up, or the account has a password or is closed.
 */
export async function keepPassword(
  app: App,
  { token }: z.output<typeof keepPasswordInput>,
  browserToken: string | null,
  client: Client,
): Promise<void> {
  await app.db.transaction(async (tx) => {
    const { link, account } = await linkOfPageToken(tx, await consumeOneTimeToken(app, tx, token, ['keep-password']));
    const signUp = await signUpOf(tx, link, browserToken);
    if (signUp === null || account.user.passwordHash !== null)
      throw new AppError('VALIDATION', message('link_no_longer_valid'));

    await acceptSignUp(app, tx, { signUp, user: account.user, client });
  });
}

type SignUp = typeof signUps.$inferSelect;
type Accepted = { signUp: SignUp; user: { id: string; email: string }; client: Client };

/** Makes the password and the organisation's name of a sign-up valid for a user whose address is verified already. */
export async function acceptSignUp(app: App, tx: Transaction, { signUp, user, client }: Accepted): Promise<void> {
  const { id: userId, email } = user;
  const organisationId = await settleOrganisation(tx, app.now(), { userId, email, wanted: requestedBy(signUp) });
  await replacePassword(app, tx, { userId, passwordHash: signUp.passwordHash, client });
  if (organisationId !== null) await approveByAddress(app, tx, { organisationId, ownerId: userId, email, client });
}

/** Returns the organisation that a sign-up requested; null if it was by invitation. */
export function requestedBy({ invited, organisationName }: SignUp): { name: string | null } | null {
  return invited ? null : { name: organisationName };
}
