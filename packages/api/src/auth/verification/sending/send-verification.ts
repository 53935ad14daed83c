import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../../app.ts';
import type { Transaction } from '../../../platform/db/client.ts';
import { signUps } from '../../../platform/db/schema/accounts.ts';
import { emailField } from '../../../platform/security/address.ts';
import type { MailLanguage } from '../../../platform/security/client.ts';
import { accountByEmail } from '../../sessions/account.ts';
import { isMailLimitReached } from './mail-limits.ts';
import { mailLink } from './mail-link.ts';
import { type ChangeJob, sendChangeLink } from './send-change-link.ts';

/**
 * The request for a verification link: of a sign-up (then with its id), for another link, or for a
 * change of address. Requests of known browsers have mail limits of their own.
 */
type VerificationJob =
  | { email: string; signUpId?: string; fromKnownBrowser?: boolean; language?: MailLanguage }
  | ChangeJob;

declare module '../../../platform/jobs/registry.ts' {
  interface JobData {
    /** In the language of the request. */
    'verification-mail': VerificationJob;
  }
}

/**
 * Mails a verification link where the address has an account that is not closed, and does nothing
 * otherwise. A verified account gets a link for a lost password. The job's id is stable across
 * retries, so that a retried job does not count its own unsent links as mails.
 *
 * @throws AppError INTERNAL without a canonical base URL; Error if the mail server does not accept
 *   the mail.
 */
export async function sendVerification(app: App, job: VerificationJob, jobId: string | null = null): Promise<void> {
  if ('userId' in job) return sendChangeLink(app, job, jobId);

  const { email, signUpId, fromKnownBrowser = false, language } = job;
  const addressed = await accountByEmail(app.db, email);
  if (addressed === null || addressed.accountStatus === 'closed') return;

  const addressee = { userId: addressed.user.id, email, jobId, fromKnownBrowser };
  await mailLink(app, { ...addressee, language }, async (tx) => {
    const account = await accountByEmail(tx, email);
    if (account?.user.id !== addressee.userId || account.accountStatus === 'closed') return null;
    if (await isMailLimitReached(app, tx, { ...addressee, isResent: signUpId === undefined })) return null;
    if (account.accountStatus !== 'unverified') return { purpose: 'lost-password' };

    const signUp = await signUpFor(tx, addressee.userId, signUpId);
    return { purpose: 'sign-up', signUpId: signUp?.id ?? null };
  });
}

/**
 * Returns the sign-up that a link belongs to: the one that requested it; for a resent link the
 * pending one, if there is exactly one.
 */
async function signUpFor(tx: Transaction, userId: string, signUpId: string | undefined) {
  const pending = await tx
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

export const resendInput = z.object({ email: emailField });

/**
 * Enqueues a mail with a new verification link. The job mails it if the address has an account that
 * is not closed; a verified user can set a new password by it. The work here is the same for every
 * address, so that the answer reveals nothing. Requests of a known browser have mail limits of
 * their own.
 */
export async function resendVerification(
  app: App,
  { email }: z.output<typeof resendInput>,
  { fromKnownBrowser = false, language }: { fromKnownBrowser?: boolean; language?: MailLanguage } = {},
): Promise<void> {
  await app.db.transaction((tx) => app.jobs.send(tx, 'verification-mail', { email, fromKnownBrowser, language }));
  app.jobs.wake('verification-mail');
}
