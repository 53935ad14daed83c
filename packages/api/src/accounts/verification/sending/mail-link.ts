import { eq } from 'drizzle-orm';
import type { App } from '../../../app.ts';
import type { Transaction } from '../../../db/client.ts';
import { verificationLinks } from '../../../db/schema/accounts.ts';
import { verificationLink } from '../../../links.ts';
import { verificationMail } from '../../../mail/verification-message.ts';
import { hashToken, newToken } from '../../../security/token.ts';
import { lockUser } from '../../profile/lock-user.ts';

type Row = typeof verificationLinks.$inferInsert;
type Addressee = Pick<Row, 'userId' | 'email' | 'jobId' | 'fromKnownBrowser'>;

/** What a link is for. */
export type LinkContent = Pick<Row, 'purpose' | 'signUpId' | 'keptSessionId'>;

/**
 * Mails a fresh verification link. The token is made here, so that it is stored nowhere in
 * clear; its row is deleted again when the mail server does not take the mail, and notes
 * when the mail left, so that one that never did does not count. `decide` runs while the
 * user's row is locked and answers what the link is for; null mails nothing.
 */
export async function mailLink(
  app: App,
  addressee: Addressee,
  decide: (tx: Transaction) => Promise<LinkContent | null>,
): Promise<void> {
  const now = app.now();
  const token = newToken();
  const tokenHash = hashToken(token);
  const expiresAt = new Date(now.getTime() + app.config.verificationTtlSeconds * 1000);
  const content = await app.db.transaction(async (tx) => {
    const decided = (await lockUser(tx, addressee.userId)) ? await decide(tx) : null;
    if (decided === null) return null;
    await tx.insert(verificationLinks).values({ ...addressee, ...decided, tokenHash, createdAt: now, expiresAt });
    return decided;
  });
  if (content === null) return;

  const sentAt = app.now();
  try {
    await app.mail.send(
      verificationMail({
        to: addressee.email,
        purpose: content.purpose,
        link: verificationLink(app.config, token),
        lifetimeSeconds: app.config.verificationTtlSeconds,
        service: app.config.service,
      }),
    );
  } catch (error) {
    await app.db.delete(verificationLinks).where(eq(verificationLinks.tokenHash, tokenHash));
    throw error;
  }
  await app.db.update(verificationLinks).set({ sentAt }).where(eq(verificationLinks.tokenHash, tokenHash));
}
