import type { App } from '../../../app.ts';
import { accountByEmail, accountById } from '../../../sessions/account.ts';
import { sessionLives } from '../../../sessions/session-lives.ts';
import { isChangeLimitReached, isMailLimitReached } from './mail-limits.ts';
import { mailLink } from './mail-link.ts';

/** Whose address is to change to what, and the session that asked for it. */
export type ChangeJob = { email: string; userId: string; sessionId: string };

/**
 * Mails a link to an address that somebody wants to have, unless it belongs to somebody
 * else already. Whoever only signed up with it and never proved it does not hold it.
 */
export async function sendChangeLink(
  app: App,
  { email, userId, sessionId }: ChangeJob,
  jobId: string | null = null,
): Promise<void> {
  const person = await accountById(app.db, userId);
  if (person?.accountStatus !== 'open') return;
  const holder = await accountByEmail(app.db, email);
  if (holder !== null && holder.accountStatus !== 'unverified') return;

  const addressee = { userId, email, jobId };
  await mailLink(app, addressee, async (tx) => {
    // The job may have waited long for its mail server.
    if (!(await sessionLives(tx, { userId, sessionId })) || (await isChangeLimitReached(app, tx, addressee)))
      return null;
    // To the holder of the address it is a stranger's mail, whichever browser asks for it.
    const asked = { ...addressee, fromKnownBrowser: false, isResent: true };
    return (await isMailLimitReached(app, tx, asked)) ? null : { purpose: 'change-address', keptSessionId: sessionId };
  });
}
