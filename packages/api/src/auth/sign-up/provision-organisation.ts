import { and, eq, isNull } from 'drizzle-orm';
import { createOrganisation } from '../../organisations/create.ts';
import { renameOrganisation } from '../../organisations/rename.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';

type Provision = {
  userId: string;
  email: string;
  /** The organisation of the account so far, which an unproved sign-up may have requested. */
  organisationId: string | null;
  /** What the user who proved the address requested; null for a sign-up by invitation. */
  wanted: { name: string | null } | null;
};

/**
 * Gives an account whose address was just proved the organisation that its user requested, or
 * none. Requests of sign-ups that were never proved have no effect. An account without an
 * organisation awaits approval until it joins one.
 *
 * @returns the organisation's id, or null.
 */
export async function provisionOrganisation(tx: Transaction, now: Date, provision: Provision): Promise<string | null> {
  const organisationId = await createOrRename(tx, now, provision);
  await tx
    .update(users)
    .set({ invitedOnly: organisationId === null })
    .where(eq(users.id, provision.userId));
  return organisationId;
}

async function createOrRename(tx: Transaction, now: Date, { userId, email, organisationId, wanted }: Provision) {
  if (organisationId === null) {
    return wanted && createOrganisation(tx, now, { ownerId: userId, name: wanted.name, email });
  }
  if (wanted === null && (await deleteUnapproved(tx, organisationId))) return null;

  await renameOrganisation(tx, { id: organisationId, name: wanted?.name ?? null, email });
  return organisationId;
}

/** An unapproved organisation has no other members, because there are no invitations before approval. */
async function deleteUnapproved(tx: Transaction, organisationId: string): Promise<boolean> {
  const deleted = await tx
    .delete(organisations)
    .where(and(eq(organisations.id, organisationId), isNull(organisations.approvedAt)))
    .returning({ id: organisations.id });
  return deleted.length > 0;
}
