import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '../../platform/db/client.ts';
import { signUps, type verificationLinks } from '../../platform/db/schema/accounts.ts';
import { hashToken } from '../../platform/security/token.ts';

type Link = Pick<typeof verificationLinks.$inferSelect, 'signUpId'>;

/** Returns the pending sign-up that a link belongs to; null if it belongs to none, or the sign-up has ended. */
export async function pendingSignUp(tx: Transaction, { signUpId }: Link) {
  if (signUpId === null) return null;
  const [signUp] = await tx
    .select()
    .from(signUps)
    .where(and(eq(signUps.id, signUpId), isNull(signUps.usedAt)));
  return signUp ?? null;
}

/** Returns the link's pending sign-up if the cookie is that of the browser that signed up, else null. */
export async function signUpOf(tx: Transaction, link: Link, browserToken: string | null) {
  const signUp = await pendingSignUp(tx, link);
  const isSameBrowser = signUp !== null && browserToken !== null && hashToken(browserToken) === signUp.browserHash;
  return isSameBrowser ? signUp : null;
}

/** Ends every pending sign-up of a user: what was typed there can no longer become valid. */
export async function endSignUps(tx: Transaction, userId: string, now: Date): Promise<void> {
  await tx
    .update(signUps)
    .set({ usedAt: now })
    .where(and(eq(signUps.userId, userId), isNull(signUps.usedAt)));
}
