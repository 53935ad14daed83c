import { type Account, accountById, lockUser } from '../auth/sessions/account.ts';
import type { Transaction } from '../platform/db/client.ts';
import { AppError } from '../platform/errors.ts';

/**
 * Requires that a user's account is open and its address verified. Locks the user: until the transaction ends neither
 * the user nor an organisation of theirs can be closed.
 *
 * @returns the user.
 * @throws AppError NOT_FOUND; VALIDATION if the account is closed or its address is unverified.
 */
export async function requireVerified(tx: Transaction, userId: string): Promise<Account['user']> {
  await lockUser(tx, userId);
  const account = await accountById(tx, userId);
  if (account === null) throw new AppError('NOT_FOUND', 'There is no such person.');

  const { email } = account.user;
  if (account.accountStatus === 'closed') throw new AppError('VALIDATION', `The account of ${email} is closed.`);
  if (account.accountStatus === 'unverified') {
    throw new AppError('VALIDATION', `${email} has not confirmed the address yet.`);
  }
  return account.user;
}
