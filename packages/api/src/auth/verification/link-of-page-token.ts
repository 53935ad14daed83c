import { eq } from 'drizzle-orm';
import type { Transaction } from '../../platform/db/client.ts';
import { verificationLinks } from '../../platform/db/schema/accounts.ts';
import { AppError } from '../../platform/errors.ts';
import { linkNoLongerValid } from '../password/one-time-token.ts';
import { accountById } from '../sessions/account.ts';

/**
 * Returns the link whose page contained a token that was just consumed, and the user's account.
 *
 * @throws AppError VALIDATION if the account is closed, or the link went to an address that
 *   is not the user's, unless it is for a change of address.
 */
export async function linkOfPageToken(
  tx: Transaction,
  { userId, linkHash }: { userId: string; linkHash: string | null },
) {
  const account = await accountById(tx, userId);
  const [link] = await tx
    .select()
    .from(verificationLinks)
    .where(eq(verificationLinks.tokenHash, linkHash ?? ''));
  const isAddressee = link?.purpose === 'change-address' || link?.email === account?.user.email;
  if (link === undefined || account === null || account.accountStatus === 'closed' || !isAddressee) {
    throw new AppError('VALIDATION', linkNoLongerValid);
  }
  return { link, account };
}
