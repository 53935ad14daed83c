import { z } from 'zod';
import type { App } from '../../app.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { confirmingPassword, confirmUser } from '../password/fresh-sign-in.ts';
import type { Approved } from '../principal.ts';
import { startSignIn } from './attempt.ts';
import { identitiesOf } from './match-user.ts';

export const connectIdentityInput = z.object({ password: confirmingPassword });

/**
 * Starts an attempt that connects the identity provider with a signed-in user's account. Only this
 * user's session can finish it. The user is confirmed first, because the connected subject can sign in and set a
 * new password.
 *
 * @returns the URL of the provider's consent screen and the cookie of the attempt.
 * @throws AppError VALIDATION if the feature is off or a subject is linked; UNAUTHENTICATED if the
 *   password is wrong; FRESH_SIGN_IN_REQUIRED; TOO_MANY; BUSY if too many passwords are being
 *   hashed; INTERNAL without a canonical base URL.
 */
export async function startConnecting(
  app: App,
  principal: Approved,
  { password }: z.output<typeof connectIdentityInput>,
  client: Client,
) {
  await confirmUser(app, principal, password, client);
  const linked = (await identitiesOf(app.db, principal.user.id)).some(({ unlinkedAt }) => unlinkedAt === null);
  if (linked) throw new AppError('VALIDATION', 'Your account is connected already.');

  const started = await startSignIn(app, { attemptCookie: null, userId: principal.user.id }, client);
  if (started === null) throw new AppError('VALIDATION', 'This deployment has no identity provider.');
  return started;
}
