import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../app.ts';
import { signUps } from '../db/schema.ts';
import { personByEmail } from '../sessions/person.ts';
import { mailLink } from './mail-link.ts';
import { isMailLimitReached } from './mailed-links.ts';
import { type ChangeJob, sendChangeLink } from './send-change-link.ts';

/**
 * What a sign-up (then with its id), a request for another link, or a change of address
 * asks for. The limits tell apart whether a browser known to the account asked.
 */
export type VerificationJob = { email: string; signUpId?: string; fromKnownBrowser?: boolean } | ChangeJob;

/**
 * Mails a verification link where the address has an account that can receive one, and
 * does nothing otherwise. By its id a job that is begun anew knows that what it left
 * behind is no mail.
 */
export async function sendVerification(app: App, job: VerificationJob, jobId: string | null = null): Promise<void> {
  if ('userId' in job) return sendChangeLink(app, job, jobId);

  const { email, signUpId, fromKnownBrowser = false } = job;
  const person = await personByEmail(app.db, email);
  if (person === null || person.user.emailVerifiedAt !== null || person.standing === 'closed') return;

  const carried = await signUpOf(app, person.user.id, signUpId);
  const link = {
    userId: person.user.id,
    signUpId: carried?.id ?? null,
    purpose: 'sign-up',
    email,
    jobId,
    fromKnownBrowser,
  } as const;
  await mailLink(app, link, async (tx) => {
    if ((await personByEmail(tx, email))?.user.emailVerifiedAt !== null) return false;
    return !(await isMailLimitReached(app, tx, { ...link, isResent: signUpId === undefined }));
  });
}

/**
 * The sign-up that the link makes valid: its own, or for another link the pending one,
 * where there is exactly one. Between several nobody could tell whose password it is.
 */
async function signUpOf(app: App, userId: string, signUpId: string | undefined) {
  const pending = await app.db
    .select({ id: signUps.id })
    .from(signUps)
    .where(
      and(
        eq(signUps.userId, userId),
        isNull(signUps.usedAt),
        signUpId === undefined ? undefined : eq(signUps.id, signUpId),
      ),
    )
    .limit(2);
  return pending.length === 1 ? pending[0] : undefined;
}
