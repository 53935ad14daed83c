import { z } from 'zod';
import type { App } from '../../app.ts';
import { invalid } from '../../platform/errors.ts';
import { emailField } from '../../platform/security/address.ts';
import type { Client } from '../../platform/security/client.ts';
import { confirmingPassword, confirmUser } from '../password/fresh-sign-in.ts';
import type { Approved } from '../principal.ts';

export const requestAddressChangeInput = z.object({
  email: emailField,
  password: confirmingPassword,
});

/**
 * Enqueues a mail with a verification link to the user's new address. Nothing changes until
 * the link is opened. The work is the same for every address and the job decides what to mail,
 * so that the answer does not reveal whether the new address has an account.
 *
 * @throws AppError UNAUTHENTICATED if the password is wrong; FRESH_SIGN_IN_REQUIRED; VALIDATION if the address is the
 *   user's own; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function requestAddressChange(
  app: App,
  principal: Approved,
  { email, password }: z.output<typeof requestAddressChangeInput>,
  client: Client,
): Promise<void> {
  await confirmUser(app, principal, password, client);
  if (email === principal.user.email) throw invalid({ email: 'This is your address already.' });

  const {
    sessionId,
    user: { id: userId },
  } = principal;
  const { language } = client;
  await app.db.transaction((tx) => app.jobs.send(tx, 'verification-mail', { email, userId, sessionId, language }));
  app.jobs.wake('verification-mail');
}
