import { and, eq } from 'drizzle-orm';
import type { Transaction } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { sessions } from '../db/schema/sessions.ts';

/**
 * Makes an organisation the one that a session and the user's next sign-in act for. The choice
 * is ignored while the user is not a member of it or it is not approved.
 */
export async function chooseOrganisation(
  tx: Transaction,
  { userId, sessionId, organisationId }: { userId: string; sessionId: string; organisationId: string },
): Promise<void> {
  // The user's row is locked before the session's, in the order of every transaction.
  await tx.update(users).set({ lastOrganisationId: organisationId }).where(eq(users.id, userId));
  await tx
    .update(sessions)
    .set({ organisationId })
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, userId)));
}
