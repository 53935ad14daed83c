import { and, eq, gt } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { oneTimeTokens } from '../../platform/db/schema/accounts.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { hashToken, newToken } from '../../platform/security/token.ts';
import { lockUser } from '../sessions/account.ts';

type Purpose = (typeof oneTimeTokens.$inferSelect)['purpose'];

/** How long a password link works. */
export const passwordLinkMinutes = 60;

const lifetimeMinutes: Record<Purpose, number> = {
  'password-link': passwordLinkMinutes,
  'new-password': 15,
  'keep-password': 15,
  'change-address': 15,
  approval: 15,
};

/** Creates the single-use token of a password link for a user, whose older ones end. */
export async function newPasswordLinkToken(
  app: App,
  tx: Transaction,
  userId: string,
  createdBy: string | null = null,
): Promise<string> {
  return insertToken(app, tx, { userId, purpose: 'password-link', createdBy, linkHash: null });
}

/**
 * Creates a token for a form on the page of a verification link; it ends with the link. Several
 * such tokens are valid until one is used, because a mail scanner may open the page while the
 * user fills in the form.
 */
export async function newPageToken(
  app: App,
  tx: Transaction,
  { userId, tokenHash }: { userId: string; tokenHash: string },
  purpose: Exclude<Purpose, 'password-link'>,
): Promise<string> {
  return insertToken(app, tx, { userId, purpose, createdBy: null, linkHash: tokenHash });
}

type NewToken = { userId: string; purpose: Purpose; createdBy: string | null; linkHash: string | null };

async function insertToken(app: App, tx: Transaction, { userId, purpose, ...origin }: NewToken): Promise<string> {
  await lockUser(tx, userId);
  const now = app.now();
  const token = newToken();
  if (purpose === 'password-link') await endTokens(tx, userId, purpose);
  await tx.insert(oneTimeTokens).values({
    ...origin,
    tokenHash: hashToken(token),
    userId,
    purpose,
    createdAt: now,
    expiresAt: new Date(now.getTime() + lifetimeMinutes[purpose] * minuteMilliseconds),
  });
  return token;
}

/**
 * Consumes a token, and deletes the user's other tokens of its purpose. One DELETE consumes it,
 * so that of concurrent attempts one succeeds.
 *
 * @throws AppError VALIDATION if the token is unknown, used, expired or of another purpose.
 */
export async function consumeOneTimeToken(
  app: App,
  tx: Transaction,
  token: string,
  purposes: Purpose[],
): Promise<{ userId: string; purpose: Purpose; linkHash: string | null }> {
  const [held] = await tx
    .select({ userId: oneTimeTokens.userId })
    .from(oneTimeTokens)
    .where(eq(oneTimeTokens.tokenHash, hashToken(token)));
  if (held !== undefined) await lockUser(tx, held.userId);
  const [taken] = await tx
    .delete(oneTimeTokens)
    .where(and(eq(oneTimeTokens.tokenHash, hashToken(token)), gt(oneTimeTokens.expiresAt, app.now())))
    .returning({
      userId: oneTimeTokens.userId,
      purpose: oneTimeTokens.purpose,
      linkHash: oneTimeTokens.linkHash,
    });
  if (taken === undefined || !purposes.includes(taken.purpose)) {
    throw new AppError('VALIDATION', message('link_no_longer_valid'));
  }
  await endTokens(tx, taken.userId, taken.purpose);
  return taken;
}

async function endTokens(tx: Transaction, userId: string, purpose: Purpose): Promise<void> {
  await tx.delete(oneTimeTokens).where(and(eq(oneTimeTokens.userId, userId), eq(oneTimeTokens.purpose, purpose)));
}
