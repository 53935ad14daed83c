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
 * Mails a verification link where the address has an account that is not closed, and does
 * nothing otherwise: for a verified account it is a link for a lost password. By its id a
 * job that is begun anew knows that what it left behind is no mail.
 */
export async function sendVerification(app: App, job: VerificationJob, jobId: string | null = null): Promise<void> {
  if ('userId' in job) return sendChangeLink(app, job, jobId);

  const { email, signUpId } = job;
  const addressed = await personByEmail(app.db, email);
  if (addressed === null || addressed.standing === 'closed') return;

  const addressee = { userId: addressed.user.id, email, jobId };
  await mailLink(app, addressee, async (tx) => {
    const person = await personByEmail(tx, email);
    if (person?.user.id !== addressee.userId || person.standing === 'closed') return null;
    if (await sentEnough(app, tx, { ...addressee, isSignUp: signUpId !== undefined })) return null;
    if (person.standing !== 'unverified') return { purpose: 'lost-password', organisationName: null };

    const signUp = await signUpFor(tx, addressee.userId, signUpId);
    return { purpose: 'sign-up', signUpId: signUp?.id ?? null, organisationName: signUp?.organisationName ?? null };
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

  return (await mailedLinks(app, tx, { userId, jobId, seconds: 3600 })).length >= signUpMailsAnHour;
}

/**
 * The sign-up that a link belongs to: the one that asked for it; for a resent link the
 * pending one, where there is exactly one. Of several, nothing tells which one is meant.
 */
async function signUpFor(tx: Transaction, userId: string, signUpId: string | undefined) {
  const pending = await tx
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
