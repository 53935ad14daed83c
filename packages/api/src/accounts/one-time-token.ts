import { and, eq, gt } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Transaction } from '../db/client.ts';
import { oneTimeTokens } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import { hashToken, newToken } from '../security/token.ts';
import { lockUser } from './lock-user.ts';

type Purpose = (typeof oneTimeTokens.$inferSelect)['purpose'];

const lifetimeMinutes: Record<Purpose, number> = { 'password-link': 60, 'first-password': 15, approval: 15 };

/**
 * Makes a token that opens one thing for one person, once. A new password link ends the
 * others; the forms on the page of a verification link stay good beside each other until
 * one is used, because a mail scanner may open that page while somebody fills it in.
 */
export async function newOneTimeToken(
  app: App,
  tx: Transaction,
  userId: string,
  purpose: Purpose,
  createdBy: string | null = null,
): Promise<string> {
  await lockUser(tx, userId);
  const now = app.now();
  const token = newToken();
  if (purpose === 'password-link') await endTokens(tx, userId, purpose);
  await tx.insert(oneTimeTokens).values({
    tokenHash: hashToken(token),
    userId,
    purpose,
    createdBy,
    createdAt: now,
    expiresAt: new Date(now.getTime() + lifetimeMinutes[purpose] * 60_000),
  });
  return token;
}

/**
 * Takes a token as it is read, and with it the person's others of its purpose: of any
 * number of attempts at once, one succeeds.
 *
 * @throws Refusal VALIDATION for an unknown, used or expired one.
 */
export async function takeOneTimeToken(
  app: App,
  tx: Transaction,
  token: string,
  purposes: Purpose[],
): Promise<{ userId: string; purpose: Purpose }> {
  const [held] = await tx
    .select({ userId: oneTimeTokens.userId })
    .from(oneTimeTokens)
    .where(eq(oneTimeTokens.tokenHash, hashToken(token)));
  if (held !== undefined) await lockUser(tx, held.userId);
  const [taken] = await tx
    .delete(oneTimeTokens)
    .where(and(eq(oneTimeTokens.tokenHash, hashToken(token)), gt(oneTimeTokens.expiresAt, app.now())))
    .returning({ userId: oneTimeTokens.userId, purpose: oneTimeTokens.purpose });
  if (taken === undefined || !purposes.includes(taken.purpose)) {
    throw new Refusal('VALIDATION', 'This link is not valid any more.');
  }
  await endTokens(tx, taken.userId, taken.purpose);
  return taken;
}

async function endTokens(tx: Transaction, userId: string, purpose: Purpose): Promise<void> {
  await tx.delete(oneTimeTokens).where(and(eq(oneTimeTokens.userId, userId), eq(oneTimeTokens.purpose, purpose)));
}
