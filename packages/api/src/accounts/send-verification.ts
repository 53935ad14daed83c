import { and, count, eq, gt, isNotNull, isNull } from 'drizzle-orm';
import type { App } from '../app.ts';
import { signUps, verificationLinks } from '../db/schema.ts';
import { personByEmail } from '../sessions/person.ts';
import { mailLink } from './mail-link.ts';
import { type ChangeJob, sendChangeLink } from './send-change-link.ts';

const resendPauseSeconds = 60;
const signUpMailsAnHour = 5;

/** What a sign-up (then with its id), a request for another link, or a change of address asks for. */
export type VerificationJob = { email: string; signUpId?: string } | ChangeJob;

/** Mails a verification link where the address has an account that can receive one, and does nothing otherwise. */
export async function sendVerification(app: App, job: VerificationJob): Promise<void> {
  if ('userId' in job) return sendChangeLink(app, job);

  const { email, signUpId } = job;
  const person = await personByEmail(app.db, email);
  if (person === null || person.user.emailVerifiedAt !== null || person.standing === 'closed') return;
  if (await sentEnough(app, person.user.id, signUpId !== undefined)) return;

  const carried = await signUpOf(app, person.user.id, signUpId);
  const link = {
    userId: person.user.id,
    signUpId: carried?.id ?? null,
    purpose: 'sign-up',
    email,
    organisationName: carried?.organisationName ?? null,
  } as const;
  await mailLink(app, link, async (tx) => (await personByEmail(tx, email))?.user.emailVerifiedAt === null);
}

/** Of resends at most one mail a minute, of sign-ups at most five an hour, counted from mails that left. */
async function sentEnough(app: App, userId: string, isSignUp: boolean): Promise<boolean> {
  if (isSignUp && !app.config.rateLimits) return false;

  const seconds = isSignUp ? 3600 : resendPauseSeconds;
  const since = new Date(app.now().getTime() - seconds * 1000);
  const [sent] = await app.db
    .select({ mails: count() })
    .from(verificationLinks)
    .where(
      and(
        eq(verificationLinks.userId, userId),
        gt(verificationLinks.createdAt, since),
        isSignUp ? isNotNull(verificationLinks.signUpId) : undefined,
      ),
    );
  return (sent?.mails ?? 0) >= (isSignUp ? signUpMailsAnHour : 1);
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
