import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Transaction } from '../db/client.ts';
import { verificationLinks } from '../db/schema.ts';
import { verificationLink } from '../links.ts';
import { hashToken, newToken } from '../security/token.ts';
import { lockUser } from './lock-user.ts';
import { verificationMail } from './verification-mail.ts';

type Row = typeof verificationLinks.$inferInsert;
type Wanted = Pick<Row, 'userId' | 'purpose' | 'email' | 'signUpId' | 'keptSessionId' | 'jobId' | 'fromKnownBrowser'>;

/**
 * Mails a fresh verification link. The token is made here, so that it rests nowhere in
 * clear; its row goes again when the mail server does not take the mail, and says when
 * it was sent once it left, so that a mail that never did does not count. Nothing leaves for what is not
 * wanted any more, or not so soon again, which is asked while the user's row is locked.
 */
export async function mailLink(
  app: App,
  row: Wanted,
  isStillWanted: (tx: Transaction) => Promise<boolean>,
): Promise<void> {
  const now = app.now();
  const token = newToken();
  const tokenHash = hashToken(token);
  const expiresAt = new Date(now.getTime() + app.config.verificationTtlSeconds * 1000);
  const kept = await app.db.transaction(async (tx) => {
    if (!(await lockUser(tx, row.userId)) || !(await isStillWanted(tx))) return false;
    await tx.insert(verificationLinks).values({ ...row, tokenHash, createdAt: now, expiresAt });
    return true;
  });
  if (!kept) return;

  const sentAt = app.now();
  try {
    await app.mail.send(
      verificationMail({
        to: row.email,
        purpose: row.purpose,
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
