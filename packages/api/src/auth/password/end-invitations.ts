import { and, eq, isNull, ne, or } from 'drizzle-orm';
import type { Transaction } from '../../platform/db/client.ts';
import { invitations } from '../../platform/db/schema/members.ts';

/**
 * Deletes the unused invitations that a user created, except those of the kept session. Another
 * person may have known the old password, created invitations and signed out. Called after the
 * sessions have ended, so that an invitation created concurrently is either deleted here or refused.
 */
export async function endInvitations(tx: Transaction, userId: string, keptSessionId: string | null): Promise<void> {
  const others =
    keptSessionId === null ? undefined : or(isNull(invitations.sessionId), ne(invitations.sessionId, keptSessionId));
  await tx.delete(invitations).where(and(eq(invitations.createdBy, userId), others));
}
