import { eq } from 'drizzle-orm';
import type { Transaction } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';

/**
 * Locks a user's row until the transaction ends. Every transaction that changes a user's
 * links, tokens, sign-ups or sessions calls this first, so that they run in turn and cannot
 * deadlock. A transaction that also locks an organisation locks the user first.
 *
 * @returns false if there is no such user.
 */
export async function lockUser(tx: Transaction, userId: string): Promise<boolean> {
  const rows = await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('update');
  return rows.length > 0;
}
