import { eq } from 'drizzle-orm';
import type { Transaction } from '../../db/client.ts';
import { verificationLinks } from '../../db/schema/accounts.ts';
import { AppError } from '../../errors.ts';
import { accountById } from '../../sessions/account.ts';
import { notValid } from '../password/one-time-token.ts';

/**
 * The link whose page carried a token that was just taken, and the user whom it is for.
 *
 * @throws AppError VALIDATION where the account is closed, or the link went to an address that
 *   is not the user's, unless it is for a change of address.
 */
export async function holderOfPage(tx: Transaction, { userId, linkHash }: { userId: string; linkHash: string | null }) {
  const person = await accountById(tx, userId);
  const [link] = await tx
    .select()
    .from(verificationLinks)
    .where(eq(verificationLinks.tokenHash, linkHash ?? ''));
  const isAddressee = link?.purpose === 'change-address' || link?.email === person?.user.email;
  if (link === undefined || person === null || person.accountStatus === 'closed' || !isAddressee) {
    throw new AppError('VALIDATION', notValid);
  }
  return { link, person };
}
