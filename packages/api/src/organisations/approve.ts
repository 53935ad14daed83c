import { and, eq, inArray, isNull, ne, notExists, notInArray, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { oneTimeTokens } from '../db/schema/accounts.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { sessions } from '../db/schema/sessions.ts';
import type { Client } from '../security/client.ts';
import { isApprovedDomain } from './account-status.ts';

/** A decision and its actor: an operator in the console; null for an admin command or a rule. */
type Decision = { organisationIds: string[]; actorId: string | null; client?: Client | undefined; now: Date };

/**
 * Opens the approval gate of organisations that await approval or were declined, as an operator may.
 * Organisations that are approved already do not change. Returns the ids of those that changed.
 */
export function approveOrganisations(tx: Transaction, decision: Decision): Promise<string[]> {
  return approve(tx, decision, ne(organisations.approval, 'approved'));
}

/**
 * Opens the approval gate of organisations that await approval. Declined and suspended ones do not change. Returns the
 * ids of those that changed.
 */
export function approvePending(tx: Transaction, decision: Decision): Promise<string[]> {
  return approve(tx, decision, sql`${organisations.approval} = 'pending' and ${organisations.suspendedAt} is null`);
}

/**
 * Opens the approval gate for a rule: only organisations that await approval change, never a
 * declined one, nor one whose decision an operator has undone. Returns the ids of those that changed.
 */
export function approveWaiting(tx: Transaction, decision: Decision): Promise<string[]> {
  const undone = tx
    .select({ id: auditEvents.id })
    .from(auditEvents)
    .where(and(eq(auditEvents.organisationId, organisations.id), eq(auditEvents.action, 'decision-undone')));
  return approve(tx, decision, sql`${organisations.approval} = 'pending' and not exists ${undone}`);
}

/**
 * Opens the approval gate of an organisation, as `approveWaiting` does, if APPROVED_DOMAINS lists the domain of the
 * address that its owner has proved. Returns whether the gate was opened.
 */
export async function approveByAddress(
  app: App,
  tx: Transaction,
  { organisationId, email, client }: { organisationId: string; email: string; client: Client },
): Promise<boolean> {
  if (!isApprovedDomain(app, email)) return false;
  const decision = { organisationIds: [organisationId], actorId: null, client, now: app.now() };
  return (await approveWaiting(tx, decision)).length > 0;
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

/**
 * Closes the organisations that await approval, with a reason that operators can read later. Their
 * members' sessions and one-time tokens end. Returns the ids of those that changed.
 */
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

/**
 * Ends the sessions in organisations that are closed, so that an old cookie does not work after they
 * are reopened. A member's session that acts for another organisation continues while that one may be used.
 */
export async function endSessionsIn(tx: Transaction, organisationIds: string[]): Promise<void> {
  if (organisationIds.length === 0) return;
  const people = tx
    .select({ id: memberships.userId })
    .from(memberships)
    .where(inArray(memberships.organisationId, organisationIds));
  const elsewhere = tx
    .select({ id: organisations.id })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(
      and(
        eq(memberships.userId, sessions.userId),
        notInArray(organisations.id, organisationIds),
        ne(organisations.approval, 'declined'),
        isNull(organisations.suspendedAt),
      ),
    );
  const here = or(inArray(sessions.organisationId, organisationIds), isNull(sessions.organisationId));
  await tx.delete(sessions).where(and(inArray(sessions.userId, people), or(here, notExists(elsewhere))));
}

/**
 * Ends the one-time tokens of the members of organisations that are about to be closed, so that an
 * old link does not work after they are reopened. Must run before other rows are locked, in the same
 * order as the use of a token, to avoid a deadlock.
 */
export async function endTokensIn(tx: Transaction, organisationIds: SQLWrapper | string[]): Promise<void> {
  const people = tx
    .select({ id: memberships.userId })
    .from(memberships)
    .where(inArray(memberships.organisationId, organisationIds));
  await tx.delete(oneTimeTokens).where(inArray(oneTimeTokens.userId, people));
}
