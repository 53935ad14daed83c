import type { Language } from '@gatehouse/languages/generated/languages';
import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { signUps, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { verificationLink } from '../../platform/links.ts';
import { defaultLanguage } from '../../platform/mail/layout.ts';
import { repeatWrite } from '../../platform/mail/mail-job.ts';
import { isMailServerAway } from '../../platform/providers/mailer.ts';
import { emailField } from '../../platform/security/address.ts';
import { hashToken, newToken } from '../../platform/security/token.ts';
import { accountByEmail, accountById, isUserUnclaimed, lockUser } from '../sessions/account.ts';
import { doesSessionExist } from '../sessions/session.ts';
import { isRequested } from './address-change-request.ts';
import { isTaken } from './change-address.ts';
import { isChangeLimitReached, isMailLimitReached } from './mail-limits.ts';
import { verificationMail } from './verification-mail.ts';

/**
 * The request for a verification link: of a sign-up (then with its id), for another link, or for a
 * change of address. Requests of known browsers have mail limits of their own.
 */
type VerificationJob =
  | { email: string; signUpId?: string; fromKnownBrowser?: boolean; language?: Language }
  | ChangeJob;

declare module '../../platform/jobs/registry.ts' {
  interface JobData {
    /** In the language of the request. */
    'verification-mail': VerificationJob;
  }
}

/**
 * Mails a verification link where the address has an account that is not closed, and does nothing
 * otherwise. A verified account gets a link for a lost password; an unclaimed one that of its sign-up, because nobody but a
 * mail scanner may have opened the first. The job's id is stable across
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
    const isVerified = account.accountStatus !== 'unverified';
    if (isVerified && !(await isUserUnclaimed(tx, addressee.userId))) return { purpose: 'lost-password' };

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
  { fromKnownBrowser = false, language }: { fromKnownBrowser?: boolean; language?: Language } = {},
): Promise<void> {
  await app.db.transaction((tx) => app.jobs.send(tx, 'verification-mail', { email, fromKnownBrowser, language }));
  app.jobs.wake('verification-mail');
}

/** The new address, its user, and the session that requested the change. */
type ChangeJob = {
  email: string;
  userId: string;
  sessionId: string;
  revokesKeys?: boolean;
  language?: Language;
};

/**
 * Mails a verification link to a user's new address, unless another account has it, or a sign-up with it can still be
 * confirmed.
 *
 * @throws AppError INTERNAL without a canonical base URL; Error if the mail server does not accept
 *   the mail.
 */
async function sendChangeLink(
  app: App,
  { email, userId, sessionId, revokesKeys, language }: ChangeJob,
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
    // The user may have cancelled the change, or asked for another one.
    if (!(await isRequested(tx, { userId, email }))) return null;
    // The address may not be the user's, so no browser counts as known for it.
    const asked = { ...addressee, fromKnownBrowser: false, isResent: true };
    if (await isMailLimitReached(app, tx, asked)) return null;
    return { purpose: 'change-address', keptSessionId: sessionId, revokesKeys };
  });
}

type LinkRow = typeof verificationLinks.$inferInsert;
type Addressee = Pick<LinkRow, 'userId' | 'email' | 'jobId' | 'fromKnownBrowser'>;

/** The purpose of a link, and the sign-up or session that it belongs to. */
type LinkContent = Pick<LinkRow, 'purpose' | 'signUpId' | 'keptSessionId' | 'revokesKeys'>;

/**
 * Mails a new verification link. The token is generated here, so that it is never stored in clear.
 * The link's row is deleted when the mail server refuses the mail, and records when the mail was
 * sent, so that the limits count sent mails only and a retried job sends no second one. `decide`
 * runs while the user's row is locked and returns the link's content; null sends no mail.
 *
 * @throws Error without the mail server's own text if it does not accept the mail.
 * @throws AppError INTERNAL without a canonical base URL.
 */
async function mailLink(
  app: App,
  { language = defaultLanguage, ...addressee }: Addressee & { language: Language | undefined },
  decide: (tx: Transaction) => Promise<LinkContent | null>,
): Promise<void> {
  const now = app.now();
  const token = newToken();
  const tokenHash = hashToken(token);
  const expiresAt = new Date(now.getTime() + app.config.verificationTtlSeconds * 1000);
  const content = await app.db.transaction(async (tx) => {
    const decided = (await lockUser(tx, addressee.userId)) ? await decide(tx) : null;
    if (decided === null || (await isSentBy(tx, addressee.jobId))) return null;
    await tx.insert(verificationLinks).values({ ...addressee, ...decided, tokenHash, createdAt: now, expiresAt });
    return decided;
  });
  if (content === null) return;

  const sentAt = app.now();
  try {
    await app.mail.send(
      verificationMail(app.config.service, {
        to: addressee.email,
        purpose: content.purpose,
        language,
        url: verificationLink(app.config, token),
        lifetimeSeconds: app.config.verificationTtlSeconds,
      }),
    );
  } catch (error) {
    // Without an answer the mail may have been taken: its link has to work then.
    if (!isMailServerAway(error)) {
      await app.db.delete(verificationLinks).where(eq(verificationLinks.tokenHash, tokenHash));
    }
    throw error;
  }
  await repeatWrite(() =>
    app.db.update(verificationLinks).set({ sentAt }).where(eq(verificationLinks.tokenHash, tokenHash)),
  );
}

/** Whether an earlier run of the job sent the link, but ended before the queue recorded its success. */
async function isSentBy(tx: Transaction, jobId: string | null | undefined): Promise<boolean> {
  if (jobId == null) return false;
  const sent = and(eq(verificationLinks.jobId, jobId), isNotNull(verificationLinks.sentAt));
  return (await tx.$count(verificationLinks, sent)) > 0;
}
