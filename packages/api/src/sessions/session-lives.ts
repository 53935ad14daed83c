import { and, eq } from 'drizzle-orm';
import type { Transaction } from '../db/client.ts';
import { sessions } from '../db/schema/sessions.ts';

/**
 * Whether a session, by its name on /account, has not been ended. For a caller that holds the
 * user's row, and that finishes what the session began earlier: a new password ends the
 * sessions, and with them what they asked for.
 */
export async function sessionLives(
  tx: Transaction,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<boolean> {
  return (await tx.$count(sessions, and(eq(sessions.id, sessionId), eq(sessions.userId, userId)))) > 0;
}
