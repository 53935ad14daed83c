import type { App } from '../../app.ts';
import type { Client } from '../../platform/security/client.ts';
import type { UserPrincipal } from '../principal.ts';
import { confirmPassword } from './confirm-password.ts';
import { readPasswordHash } from './read-password-hash.ts';
import { requireRecentSignIn } from './recent-sign-in.ts';

/**
 * Confirms that the session is used by its owner: by the password or, if the account has none, by a
 * sign-in in the last 15 minutes.
 *
 * @throws AppError UNAUTHENTICATED, with the field `password`, if the password is wrong; FORBIDDEN if the sign-in is
 *   not recent; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function confirmUser(
  app: App,
  principal: UserPrincipal,
  password: string | undefined,
  client: Client,
): Promise<void> {
  const hash = await readPasswordHash(app.db, principal.user.id);
  if (hash === null) return requireRecentSignIn(app, principal);
  await confirmPassword(app, principal, { field: 'password', password: password ?? '' }, client);
}
