import { and, eq, isNull, ne, or } from 'drizzle-orm';
import type { Transaction } from '../../db/client.ts';
import { invitations } from '../../db/schema/members.ts';

/**
 * Ends the unused invitations that a user made, but those of the session that stays: the
 * password is changed where another person may have had it, and that person may have made
 * some and signed out again. Called after the sessions have ended, so that an invitation
 * which one of them is making just now is either seen here or refused.
 */
export async function endInvitations(tx: Transaction, userId: string, keptSessionId: string | null): Promise<void> {
  const others =
    keptSessionId === null ? undefined : or(isNull(invitations.sessionId), ne(invitations.sessionId, keptSessionId));
  await tx.delete(invitations).where(and(eq(invitations.madeBy, userId), others));
}
