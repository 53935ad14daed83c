import { and, eq, inArray, isNull, ne, or, type SQL } from 'drizzle-orm';
import { record } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { memberships, organisations, sessions } from '../db/schema.ts';

/** Who decides: an operator in the console, or null for the command line and for rules. */
type Decision = { organisationIds: string[]; actorId: string | null; now: Date };

/**
 * Opens the approval gate of organisations that wait or were declined, as an operator
 * may. Those approved already stay as they are. Answers the ids of those that changed.
 */
export function approveOrganisations(tx: Transaction, decision: Decision): Promise<string[]> {
  return approve(tx, decision, ne(organisations.approval, 'approved'));
}

/** The same for rules, which never end a decline: only those that wait. */
export function approveWaiting(tx: Transaction, decision: Decision): Promise<string[]> {
  return approve(tx, decision, eq(organisations.approval, 'pending'));
}

async function approve(tx: Transaction, { organisationIds, actorId, now }: Decision, which: SQL): Promise<string[]> {
  const changed = await tx
    .update(organisations)
    .set({ approval: 'approved', approvedAt: now, declinedAt: null, declineReason: null })
    .where(and(inArray(organisations.id, organisationIds), which))
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
  await endSessionsIn(
    tx,
    changed.map(({ id }) => id),
  );
  return changed.map(({ id }) => id);
}

/** Ends the sessions in organisations that are closed: a cookie must not live again once they are opened. */
export async function endSessionsIn(tx: Transaction, organisationIds: string[]): Promise<void> {
  if (organisationIds.length === 0) return;
  const people = tx
    .select({ id: memberships.userId })
    .from(memberships)
    .where(inArray(memberships.organisationId, organisationIds));
  const here = or(inArray(sessions.organisationId, organisationIds), isNull(sessions.organisationId));
  await tx.delete(sessions).where(and(inArray(sessions.userId, people), here));
}
