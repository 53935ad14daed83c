import { eq } from 'drizzle-orm';
import type { Transaction } from '../db/client.ts';
import { sessions } from '../db/schema/sessions.ts';
import { AppError } from '../errors.ts';
import type { Principal } from './principal.ts';

/**
 * Requires that the caller's session still exists, and keeps it until the transaction ends. A
 * password change that ends it either came first and is seen here, or waits.
 *
 * @throws AppError UNAUTHENTICATED if the session has ended.
 */
export async function requireLivingSession(tx: Transaction, { sessionId }: Pick<Principal, 'sessionId'>) {
  const living = await tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, sessionId)).for('share');
  if (living.length === 0) throw new AppError('UNAUTHENTICATED', 'Sign in first.');
}
