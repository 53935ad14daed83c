import type { App } from '../../../app.ts';
import type { MailLanguage } from '../../../platform/security/client.ts';
import { accountByEmail, accountById } from '../../sessions/account.ts';
import { doesSessionExist } from '../../sessions/session.ts';
import { isTaken } from '../apply-address-change.ts';
import { isChangeLimitReached, isMailLimitReached } from './mail-limits.ts';
import { mailLink } from './mail-link.ts';

/** The new address, its user, and the session that requested the change. */
export type ChangeJob = { email: string; userId: string; sessionId: string; language?: MailLanguage };

/**
 * Mails a verification link to a user's new address, unless another account has it, or a sign-up with it can still be
 * confirmed.
 *
 * @throws AppError INTERNAL without a canonical base URL; Error if the mail server does not accept
 *   the mail.
 */
export async function sendChangeLink(
  app: App,
  { email, userId, sessionId, language }: ChangeJob,
  jobId: string | null = null,
): Promise<void> {
  const account = await accountById(app.db, userId);
  if (account?.accountStatus !== 'active') return;
  const other = await accountByEmail(app.db, email);
  if (other !== null && (await isTaken(app, app.db, other))) return;

  const addressee = { userId, email, jobId };
  await mailLink(app, { ...addressee, language }, async (tx) => {
    // The session may have ended while the job waited for the mail server.
    if (!(await doesSessionExist(tx, { userId, sessionId })) || (await isChangeLimitReached(app, tx, addressee)))
      return null;
    // The address may not be the user's, so no browser counts as known for it.
    const asked = { ...addressee, fromKnownBrowser: false, isResent: true };
    return (await isMailLimitReached(app, tx, asked)) ? null : { purpose: 'change-address', keptSessionId: sessionId };
  });
}
