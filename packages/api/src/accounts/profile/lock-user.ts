import { eq } from 'drizzle-orm';
import type { Transaction } from '../../db/client.ts';
import { users } from '../../db/schema/accounts.ts';

/**
 * Takes the row of a user for the rest of the transaction. Whatever changes a person's
 * links, tokens, sign-ups or sessions does this first, so that two of them take turns
 * and never wait for each other in a circle. A transaction that locks an organisation too
 * locks the user first. False where there is no such user.
 */
export async function lockUser(tx: Transaction, userId: string): Promise<boolean> {
  const rows = await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('update');
  return rows.length > 0;
}
