import { z } from 'zod';
import type { App } from '../../app.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import type { UserPrincipal } from '../principal.ts';
import { startSignIn } from './attempt.ts';
import { identitiesOf } from './match-user.ts';
import { isLocalPath } from './return-url.ts';

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
  if (hasPassword) throw new AppError('VALIDATION', 'Confirm that it’s you with your password.');
  const linked = (await identitiesOf(app.db, user.id)).some(({ unlinkedAt }) => unlinkedAt === null);
  if (!linked) throw new AppError('VALIDATION', 'No identity provider is connected to your account.');

  const returnTo = wanted !== undefined && isLocalPath(wanted) ? wanted : null;
  const attempt = { attemptCookie: null, userId: user.id, fresh: { sessionId, returnTo } };
  const started = await startSignIn(app, attempt, client);
  if (started === null) throw new AppError('VALIDATION', 'This deployment has no identity provider.');
  return started;
}
