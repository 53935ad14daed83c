import { eq } from 'drizzle-orm';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';

/** Returns the hash of a user's password; null for a user without one, and for one who was deleted. */
export async function readPasswordHash(db: Executor, userId: string): Promise<string | null> {
  const [own] = await db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, userId));
  return own?.passwordHash ?? null;
}
