import { and, eq, inArray, isNotNull, notExists } from 'drizzle-orm';
import { recordJoined } from '../changes/record-change.ts';
import { createOrganisation } from '../organisations/create.ts';
import type { Executor, Transaction } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';

/** The condition for users who signed up with an invitation and joined no organisation: each awaits approval alone. */
export function invitedWithoutOrganisation(db: Executor) {
  return and(
    eq(users.invitedOnly, true),
    isNotNull(users.emailVerifiedAt),
    notExists(db.select({ id: memberships.userId }).from(memberships).where(eq(memberships.userId, users.id))),
  );
}

/**
 * Creates an organisation for each of these users who joined none, because approval belongs to
 * organisations. Returns the ids with those of the users replaced by those of their new
 * organisations; all other ids stay as they are.
 */
export async function createMissingOrganisations(tx: Transaction, now: Date, ids: string[]): Promise<string[]> {
  const waiting = await tx
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(and(inArray(users.id, ids), invitedWithoutOrganisation(tx)))
    .orderBy(users.id)
    .for('update');

  const made = new Map<string, string>();
  for (const { id, email } of waiting) {
    const organisationId = await createOrganisation(tx, now, { ownerId: id, name: null, email });
    made.set(id, organisationId);
    await tx.update(users).set({ invitedOnly: false }).where(eq(users.id, id));
    await recordJoined(tx, now, { organisationId, userId: id });
  }
  return ids.map((id) => made.get(id) ?? id);
}
