import type { App } from '../app.ts';
import { personByEmail, personById } from '../sessions/person.ts';
import { sessionLives } from '../sessions/session-lives.ts';
import { mailLink } from './mail-link.ts';
import { isChangeLimitReached, isMailLimitReached } from './mailed-links.ts';

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
  const person = await personById(app.db, userId);
  if (person?.standing !== 'open') return;
  const holder = await personByEmail(app.db, email);
  if (holder !== null && holder.standing !== 'unverified') return;

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
