import { and, eq, isNotNull } from 'drizzle-orm';
import type { App } from '../../../app.ts';
import type { Transaction } from '../../../platform/db/client.ts';
import { verificationLinks } from '../../../platform/db/schema/accounts.ts';
import { verificationLink } from '../../../platform/links.ts';
import { defaultLanguage } from '../../../platform/mail/layout.ts';
import { repeatWrite } from '../../../platform/mail/mail-job.ts';
import type { MailLanguage } from '../../../platform/security/client.ts';
import { hashToken, newToken } from '../../../platform/security/token.ts';
import { lockUser } from '../../profile/lock-user.ts';
import { verificationMail } from './verification-mail.ts';

type LinkRow = typeof verificationLinks.$inferInsert;
type Addressee = Pick<LinkRow, 'userId' | 'email' | 'jobId' | 'fromKnownBrowser'>;

/** The purpose of a link, and the sign-up or session that it belongs to. */
type LinkContent = Pick<LinkRow, 'purpose' | 'signUpId' | 'keptSessionId'>;

/**
 * Mails a new verification link. The token is generated here, so that it is never stored in clear.
 * The link's row is deleted when the mail server refuses the mail, and records when the mail was
 * sent, so that the limits count sent mails only and a retried job sends no second one. `decide`
 * runs while the user's row is locked and returns the link's content; null sends no mail.
 *
 * @throws Error without the mail server's own text if it does not accept the mail.
 * @throws AppError INTERNAL without a canonical base URL.
 */
export async function mailLink(
  app: App,
  { language = defaultLanguage, ...addressee }: Addressee & { language: MailLanguage | undefined },
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
    await app.db.delete(verificationLinks).where(eq(verificationLinks.tokenHash, tokenHash));
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
