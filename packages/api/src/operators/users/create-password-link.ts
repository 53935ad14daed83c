import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { newOneTimeToken } from '../../auth/password/one-time-token.ts';
import { AppError } from '../../platform/errors.ts';
import { passwordLink } from '../../platform/links.ts';
import type { Actor } from '../actor.ts';
import { requireVerified } from '../require-verified.ts';

/**
 * Creates a link that sets the user's password, once, within 60 minutes. Only the hash of its
 * token is stored, so the caller must show the link at once. Links for operators are made by the command line alone, so
 * that a stolen session of one does not turn into their account, or another operator's.
 *
 * @throws AppError NOT_FOUND; FORBIDDEN for an operator's account in the console; VALIDATION if the account is closed or its address is unverified; INTERNAL
 *   without a canonical base URL.
 */
export function createPasswordLink(app: App, { userId }: { userId: string }, actor: Actor): Promise<string> {
  return app.db.transaction(async (tx) => {
    const { operator } = await requireVerified(tx, userId);
    if (operator && actor.actorId !== null) {
      throw new AppError('FORBIDDEN', 'Only the command line makes password links for operators.');
    }

    const token = await newOneTimeToken(app, tx, userId, 'password-link', actor.actorId);
    await recordAudit(tx, app.now(), { action: 'password-link-made', ...actor, userId });
    return passwordLink(app.config, token);
  });
}
