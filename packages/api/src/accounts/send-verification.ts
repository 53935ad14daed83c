import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Transaction } from '../db/client.ts';
import { signUps } from '../db/schema.ts';
import { personByEmail } from '../sessions/person.ts';
import { mailLink } from './mail-link.ts';
import { mailedLinks } from './mailed-links.ts';
import { type ChangeJob, sendChangeLink } from './send-change-link.ts';

const resendPauseSeconds = 60;
const signUpMailsAnHour = 5;

/** What a sign-up (then with its id), a request for another link, or a change of address asks for. */
export type VerificationJob = { email: string; signUpId?: string } | ChangeJob;

/**
 * Mails a verification link where the address has an account that can receive one, and
 * does nothing otherwise. By its id a job that is begun anew knows that what it left
 * behind is no mail.
 */
export async function sendVerification(app: App, job: VerificationJob, jobId: string | null = null): Promise<void> {
  if ('userId' in job) return sendChangeLink(app, job, jobId);

  const { email, signUpId } = job;
  const person = await personByEmail(app.db, email);
  if (person === null || person.user.emailVerifiedAt !== null || person.standing === 'closed') return;

  const carried = await signUpOf(app, person.user.id, signUpId);
  const link = {
    userId: person.user.id,
    signUpId: carried?.id ?? null,
    purpose: 'sign-up',
    email,
    jobId,
    organisationName: carried?.organisationName ?? null,
  } as const;
  await mailLink(app, link, async (tx) => {
    if ((await personByEmail(tx, email))?.user.emailVerifiedAt !== null) return false;
    return !(await sentEnough(app, tx, { userId: link.userId, jobId, isSignUp: signUpId !== undefined }));
  });
}

/** Of resends at most one mail a minute, of sign-ups at most five an hour, counted from mails that left. */
async function sentEnough(
  app: App,
  tx: Transaction,
  { userId, jobId, isSignUp }: { userId: string; jobId: string | null; isSignUp: boolean },
): Promise<boolean> {
  if (!isSignUp) return (await mailedLinks(app, tx, { userId, jobId, seconds: resendPauseSeconds })).length > 0;
  if (!app.config.rateLimits) return false;

  const mailed = await mailedLinks(app, tx, { userId, jobId, seconds: 3600 });
  return mailed.filter(({ signUpId }) => signUpId !== null).length >= signUpMailsAnHour;
}

/**
 * The sign-up that the link makes valid: its own, or for another link the pending one,
 * where there is exactly one. Between several nobody could tell whose password it is.
 */
async function signUpOf(app: App, userId: string, signUpId: string | undefined) {
  const pending = await app.db
    .select({ id: signUps.id, organisationName: signUps.organisationName })
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
