import { z } from 'zod';
import type { App } from '../../app.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { confirmation, confirmUser } from '../password/fresh-sign-in.ts';
import type { Approved, UserPrincipal } from '../principal.ts';
import { startSignIn } from './attempt.ts';
import { identitiesOf } from './match-user.ts';
import { isLocalPath } from './return-url.ts';

export const connectIdentityInput = z.object(confirmation);

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
  confirming: z.output<typeof connectIdentityInput>,
  client: Client,
) {
  await confirmUser(app, principal, confirming, client);
  if (await isConnected(app, principal.user.id)) throw new AppError('VALIDATION', message('connected_already'));

  return start(app, { userId: principal.user.id }, client);
}

export const confirmWithProviderInput = z.object({
  /** A path of this service, to which / leads once the session is fresh. */
  return_to: z.string().optional(),
});

/**
 * Starts a round trip through the identity provider that makes the session fresh, for a user who has no password. The
 * provider asks its user to sign in there again. Allowed while the account awaits approval.
 *
 * @returns the URL of the provider's consent screen and the cookie of the attempt.
 * @throws AppError VALIDATION if the user has a password, or no identity is connected, or the feature is off; TOO_MANY;
 *   INTERNAL without a canonical base URL.
 */
export async function startConfirming(
  app: App,
  { user, sessionId, hasPassword }: UserPrincipal,
  { return_to: wanted }: z.output<typeof confirmWithProviderInput>,
  client: Client,
) {
  if (hasPassword) throw new AppError('VALIDATION', message('confirm_with_password'));
  if (!(await isConnected(app, user.id))) {
    throw new AppError('VALIDATION', message('no_identity_connected'));
  }

  const returnTo = wanted !== undefined && isLocalPath(wanted) ? wanted : null;
  return start(app, { userId: user.id, fresh: { sessionId, returnTo } }, client);
}

async function isConnected(app: App, userId: string): Promise<boolean> {
  return (await identitiesOf(app.db, userId)).some(({ unlinkedAt }) => unlinkedAt === null);
}

type Start = Omit<Parameters<typeof startSignIn>[1], 'attemptCookie'>;

async function start(app: App, attempt: Start, client: Client) {
  const started = await startSignIn(app, { attemptCookie: null, ...attempt }, client);
  if (started === null) throw new AppError('VALIDATION', message('no_identity_provider'));
  return started;
}
