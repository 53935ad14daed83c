import { and, eq, gt } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../db/client.ts';
import { oneTimeTokens } from '../../db/schema/accounts.ts';
import { AppError } from '../../errors.ts';
import { hashToken, newToken } from '../../security/token.ts';
import { lockUser } from '../profile/lock-user.ts';

export const notValid = 'This link is no longer valid.';

type Purpose = (typeof oneTimeTokens.$inferSelect)['purpose'];

const lifetimeMinutes: Record<Purpose, number> = {
  'password-link': 60,
  'new-password': 15,
  'keep-password': 15,
  'change-address': 15,
  approval: 15,
};

/** Makes a token that allows one thing for one user, once. A new password link ends the others. */
export async function newOneTimeToken(
  app: App,
  tx: Transaction,
  userId: string,
  purpose: Purpose,
  createdBy: string | null = null,
): Promise<string> {
  return insertToken(app, tx, { userId, purpose, createdBy, linkHash: null });
}

/**
 * Makes a token for a form on the page of a verification link; it ends with the link. Such
 * tokens stay valid beside each other until one is used, because a mail scanner may open
 * the page while the user fills it in.
 */
export async function newPageToken(
  app: App,
  tx: Transaction,
  { userId, tokenHash }: { userId: string; tokenHash: string },
  purpose: Exclude<Purpose, 'password-link'>,
): Promise<string> {
  return insertToken(app, tx, { userId, purpose, createdBy: null, linkHash: tokenHash });
}

type Wanted = { userId: string; purpose: Purpose; createdBy: string | null; linkHash: string | null };

async function insertToken(app: App, tx: Transaction, { userId, purpose, ...wanted }: Wanted): Promise<string> {
  await lockUser(tx, userId);
  const now = app.now();
  const token = newToken();
  if (purpose === 'password-link') await endTokens(tx, userId, purpose);
  await tx.insert(oneTimeTokens).values({
    ...wanted,
    tokenHash: hashToken(token),
    userId,
    purpose,
    createdAt: now,
    expiresAt: new Date(now.getTime() + lifetimeMinutes[purpose] * 60_000),
  });
  return token;
}

/**
 * Takes a token as it is read, and with it the person's others of its purpose: of any
 * number of attempts at once, one succeeds.
 *
 * @throws AppError VALIDATION for an unknown, used or expired one.
 */
export async function takeOneTimeToken(
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
    throw new AppError('VALIDATION', notValid);
  }
  await endTokens(tx, taken.userId, taken.purpose);
  return taken;
}

async function endTokens(tx: Transaction, userId: string, purpose: Purpose): Promise<void> {
  await tx.delete(oneTimeTokens).where(and(eq(oneTimeTokens.userId, userId), eq(oneTimeTokens.purpose, purpose)));
}
