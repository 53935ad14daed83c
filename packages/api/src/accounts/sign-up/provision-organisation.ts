import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '../../db/client.ts';
import { users } from '../../db/schema/accounts.ts';
import { organisations } from '../../db/schema/organisations.ts';
import { createOrganisation } from '../../organisations/create.ts';
import { renameOrganisation } from '../../organisations/rename.ts';

type Settling = {
  userId: string;
  email: string;
  /** What the account came with, which anybody may have asked for. */
  organisationId: string | null;
  /** What whoever proved the address asked for; null by an invitation, which brings none of one's own. */
  wanted: { name: string | null } | null;
};

/**
 * Gives an account whose address was just proved the organisation that its holder asked
 * for, or none, whatever was asked for before by somebody who proved nothing. Without one it
 * awaits approval until it joins one. Answers the organisation's id.
 */
export async function provisionOrganisation(tx: Transaction, now: Date, settling: Settling): Promise<string | null> {
  const organisationId = await settle(tx, now, settling);
  await tx
    .update(users)
    .set({ invitedOnly: organisationId === null })
    .where(eq(users.id, settling.userId));
  return organisationId;
}

async function settle(tx: Transaction, now: Date, { userId, email, organisationId, wanted }: Settling) {
  if (organisationId === null) {
    return wanted && createOrganisation(tx, now, { ownerId: userId, name: wanted.name, email });
  }
  if (wanted === null && (await deleteWaiting(tx, organisationId))) return null;

  await renameOrganisation(tx, { id: organisationId, name: wanted?.name ?? null, email });
  return organisationId;
}

/** Nobody else can belong to it: there are no invitations before approval. One that an operator approved stays. */
async function deleteWaiting(tx: Transaction, organisationId: string): Promise<boolean> {
  const deleted = await tx
    .delete(organisations)
    .where(and(eq(organisations.id, organisationId), isNull(organisations.approvedAt)))
    .returning({ id: organisations.id });
  return deleted.length > 0;
}
