import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { newOneTimeToken } from '../../auth/password/one-time-token.ts';
import { passwordLink } from '../../platform/links.ts';
import type { Actor } from '../actor.ts';
import { requireVerified } from '../require-verified.ts';

/**
 * Creates a link that sets the user's password, once, within 60 minutes. Only the hash of its
 * token is stored, so the caller must show the link at once.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the account is closed or its address is unverified; INTERNAL
 *   without a canonical base URL.
 */
export function createPasswordLink(app: App, { userId }: { userId: string }, actor: Actor): Promise<string> {
  return app.db.transaction(async (tx) => {
    await requireVerified(tx, userId);

    const token = await newOneTimeToken(app, tx, userId, 'password-link', actor.actorId);
    await recordAudit(tx, app.now(), { action: 'password-link-made', ...actor, userId });
    return passwordLink(app.config, token);
  });
}
