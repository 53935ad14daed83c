import { and, eq, inArray, isNull, ne, or, type SQL, type SQLWrapper } from 'drizzle-orm';
import { recordAudit } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { oneTimeTokens } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { sessions } from '../db/schema/sessions.ts';
import type { Client } from '../security/client.ts';

/** Who decides, and from where: an operator in the console, or null for the command line and for rules. */
type Decision = { organisationIds: string[]; actorId: string | null; client?: Client | undefined; now: Date };

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

async function approve(
  tx: Transaction,
  { organisationIds, actorId, client, now }: Decision,
  which: SQL,
): Promise<string[]> {
  const changed = await tx
    .update(organisations)
    .set({ approval: 'approved', approvedAt: now, declinedAt: null, declineReason: null })
    .where(and(inArray(organisations.id, organisationIds), which))
    .returning({ id: organisations.id });

  for (const { id } of changed) {
    await recordAudit(tx, now, { action: 'organisation-approved', actorId, organisationId: id, client });
  }
  return changed.map(({ id }) => id);
}

/** Closes organisations that wait, with a reason that operators can read later. */
export async function declineOrganisations(
  tx: Transaction,
  { organisationIds, actorId, client, now, reason }: Decision & { reason: string },
) {
  const waiting = and(inArray(organisations.id, organisationIds), eq(organisations.approval, 'pending'));
  const ids = tx.select({ id: organisations.id }).from(organisations).where(waiting);
  await endTokensIn(tx, ids);
  const changed = await tx
    .update(organisations)
    .set({ approval: 'declined', declinedAt: now, declineReason: reason })
    .where(waiting)
    .returning({ id: organisations.id });

  for (const { id } of changed) {
    await recordAudit(tx, now, {
      action: 'organisation-declined',
      actorId,
      organisationId: id,
      client,
      details: { reason },
    });
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

/**
 * Ends the one-time links of the people in organisations that are about to be closed: they
 * must not work again either. Before anything else is locked, as whoever uses one does.
 */
export async function endTokensIn(tx: Transaction, organisationIds: SQLWrapper | string[]): Promise<void> {
  const people = tx
    .select({ id: memberships.userId })
    .from(memberships)
    .where(inArray(memberships.organisationId, organisationIds));
  await tx.delete(oneTimeTokens).where(inArray(oneTimeTokens.userId, people));
}
