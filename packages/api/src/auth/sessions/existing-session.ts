import { and, eq } from 'drizzle-orm';
import type { Transaction } from '../../platform/db/client.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import type { UserPrincipal } from '../principal.ts';

/**
 * Requires that the caller's session still exists, and locks it until the transaction ends. A
 * concurrent password change that ends it either commits first and is seen here, or waits.
 *
 * @throws AppError UNAUTHENTICATED if the session has ended.
 */
export async function requireExistingSession(tx: Transaction, { sessionId }: Pick<UserPrincipal, 'sessionId'>) {
  const found = await tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, sessionId)).for('share');
  if (found.length === 0) throw new AppError('UNAUTHENTICATED', 'Sign in first.');
}

/**
 * Whether a session, by its id on /account, still exists. For jobs that finish what the session
 * requested: a password change ends the sessions, and with them their requests. The caller holds
 * the lock of the user's row.
 */
export async function doesSessionExist(
  tx: Transaction,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<boolean> {
  return (await tx.$count(sessions, and(eq(sessions.id, sessionId), eq(sessions.userId, userId)))) > 0;
}
