import type { z } from 'zod';
import type { App } from '../../app.ts';
import { confirmingPassword, confirmUser } from '../../auth/password/fresh-sign-in.ts';
import type { Operator } from '../../auth/principal.ts';
import { keepKeysField } from '../../organisations/started.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { readUser } from '../find-accounts.ts';
import { optionalReason } from '../reason.ts';
import { shownTime } from '../shown-time.ts';
import { createPasswordLink } from './create-password-link.ts';
import { userInput } from './read-user.ts';
import { restoreUser, suspendUser } from './suspend-user.ts';

export const passwordLinkInput = userInput.extend({ password: confirmingPassword });
export const suspendUserInput = userInput.extend({ reason: optionalReason, keep_keys: keepKeysField });
export const restoreUserInput = userInput.extend({ suspended_at: shownTime });

/**
 * Creates a password link, which the operator gives to the user: no mail carries it. The operator is confirmed first.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED; UNAUTHENTICATED for a wrong password; FORBIDDEN for an operator's account;
 *   NOT_FOUND; VALIDATION if the account is closed or its address is unverified; TOO_MANY; BUSY if too many passwords are
 *   being hashed; INTERNAL without a canonical base URL.
 */
export async function createPasswordLinkFor(
  app: App,
  principal: Operator,
  { user_id: id, password }: z.output<typeof passwordLinkInput>,
  client: Client,
) {
  const { user } = principal;
  await confirmUser(app, principal, password, client);
  return { url: await createPasswordLink(app, { userId: id }, { actorId: user.id, client }) };
}

/**
 * Suspends a user, and stores the reason with the audit entry, for operators only.
 *
 * @throws AppError NOT_FOUND; VALIDATION for the operator's own account, or if it is suspended already.
 */
export async function suspend(
  app: App,
  principal: Operator,
  { user_id: id, reason, keep_keys: keepKeys }: z.output<typeof suspendUserInput>,
  client: Client,
) {
  const { user } = principal;
  if (user.id === id) throw new AppError('VALIDATION', 'You cannot suspend yourself.');
  const { at, ended } = await suspendUser(app, { userId: id, reason, keepKeys }, { actorId: user.id, client });
  return { ...(await readUser(app.db, id)), suspended_at: at.toISOString(), ended };
}

/**
 * Ends the suspension of a user that the operator's page showed.
 *
 * @throws AppError NOT_FOUND; VALIDATION if it has ended since.
 */
export async function restore(
  app: App,
  principal: Operator,
  { user_id: id, suspended_at: suspendedAt }: z.output<typeof restoreUserInput>,
  client: Client,
) {
  const { user } = principal;
  await restoreUser(app, { userId: id, suspendedAt }, { actorId: user.id, client });
  return readUser(app.db, id);
}
