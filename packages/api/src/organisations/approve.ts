import { and, eq, inArray, ne } from 'drizzle-orm';
import { record } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { organisations } from '../db/schema.ts';

/** Who decides: an operator in the console, or null for the command line and for rules. */
type Decision = { organisationIds: string[]; actorId: string | null; now: Date };

/**
 * Opens the approval gate of organisations that wait or were declined. Those approved
 * already stay as they are. Answers the ids of those that changed.
 */
export async function approveOrganisations(tx: Transaction, { organisationIds, actorId, now }: Decision) {
  const changed = await tx
    .update(organisations)
    .set({ approval: 'approved', approvedAt: now, declinedAt: null, declineReason: null })
    .where(and(inArray(organisations.id, organisationIds), ne(organisations.approval, 'approved')))
    .returning({ id: organisations.id });

  for (const { id } of changed) await record(tx, now, { action: 'organisation-approved', actorId, organisationId: id });
  return changed.map(({ id }) => id);
}

/** Closes organisations that wait, with a reason that operators can read later. */
export async function declineOrganisations(
  tx: Transaction,
  { organisationIds, actorId, now, reason }: Decision & { reason: string },
) {
  const changed = await tx
    .update(organisations)
    .set({ approval: 'declined', declinedAt: now, declineReason: reason })
    .where(and(inArray(organisations.id, organisationIds), eq(organisations.approval, 'pending')))
    .returning({ id: organisations.id });

  for (const { id } of changed) {
    await record(tx, now, { action: 'organisation-declined', actorId, organisationId: id, details: { reason } });
  }
  return changed.map(({ id }) => id);
}
