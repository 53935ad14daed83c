import { and, eq } from 'drizzle-orm';
import type { Transaction } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { sessions } from '../db/schema/sessions.ts';

/**
 * Makes an organisation the one that a session acts for, and that the person's next
 * sign-in begins with. It holds while they belong to it and it is approved.
 */
export async function chooseOrganisation(
  tx: Transaction,
  { userId, sessionId, organisationId }: { userId: string; sessionId: string; organisationId: string },
): Promise<void> {
  // The user's row is locked before the session's, as everywhere.
  await tx.update(users).set({ lastOrganisationId: organisationId }).where(eq(users.id, userId));
  await tx
    .update(sessions)
    .set({ organisationId })
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, userId)));
}
