import type { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { confirmation, confirmUser } from '../../auth/password/fresh-sign-in.ts';
import { newPasswordLinkToken } from '../../auth/password/one-time-token.ts';
import type { Operator } from '../../auth/principal.ts';
import { AppError } from '../../platform/errors.ts';
import { passwordLink } from '../../platform/links.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { type Actor, inConsole } from '../actor.ts';
import { lockOperator, requireVerified } from '../find-accounts.ts';
import { userInput } from './read-users.ts';

/**
 * Creates a link that sets the user's password, once, within 60 minutes. Only the hash of its
 * token is stored, so the caller must show the link at once. Links for operators are made by the command line alone, so
 * that a stolen session of one does not turn into their account, or another operator's.
 *
 * @throws AppError NOT_FOUND; FORBIDDEN for an operator's account in the console; VALIDATION if the account is closed or its address is unverified; INTERNAL
 *   without a canonical base URL.
 */
export function createPasswordLink(
  app: App,
  { userId }: { userId: string },
  actor: Actor,
  inConsoleBy: Operator | null = null,
): Promise<string> {
  return app.db.transaction(async (tx) => {
    if (inConsoleBy !== null) await lockOperator(tx, inConsoleBy, [userId]);
    const { operator } = await requireVerified(tx, userId);
    if (operator && actor.actorId !== null) {
      throw new AppError('FORBIDDEN', message('operator_link_by_command'));
    }

    const token = await newPasswordLinkToken(app, tx, userId, actor.actorId);
    await recordAudit(tx, app.now(), { action: 'password-link-made', ...actor, userId });
    return passwordLink(app.config, token);
  });
}

export const passwordLinkInput = userInput.extend(confirmation);

/**
 * Creates a password link, which the operator gives to the user: no mail carries it. The operator is confirmed first.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED; UNAUTHENTICATED for a wrong password; FORBIDDEN for an operator's account,
 *   and if the mark ended meanwhile; NOT_FOUND; VALIDATION if the account is closed or its address is unverified; TOO_MANY; BUSY if too many passwords are
 *   being hashed; INTERNAL without a canonical base URL.
 */
export async function createPasswordLinkFor(
  app: App,
  principal: Operator,
  { user_id: id, ...confirming }: z.output<typeof passwordLinkInput>,
  client: Client,
) {
  await confirmUser(app, principal, confirming, client);
  return { url: await createPasswordLink(app, { userId: id }, inConsole(principal, client), principal) };
}
