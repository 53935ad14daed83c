import { and, eq, inArray, isNull, ne, type SQL, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { recordChange } from '../changes/record-change.ts';
import type { Transaction } from '../platform/db/client.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import type { Client } from '../platform/security/client.ts';
import { isApprovedDomain } from './account-status.ts';
import { endLinksIn, endSessionsIn, lockUsersIn } from './end-access.ts';

/** A decision and its actor. */
type Decision = Actor & { organisationIds: string[]; now: Date };
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
  return approve(tx, decision, eq(organisations.approval, 'pending'));
}

/**
 * Opens the approval gate of organisations that were declined at the given time. Suspended ones do not change. Returns
 * the ids of those that changed.
 */
export function approveDeclined(
  tx: Transaction,
  { declinedAt, ...decision }: Decision & { declinedAt: Date },
): Promise<string[]> {
  return approve(tx, decision, eq(organisations.declinedAt, declinedAt));
}

/**
 * Opens the approval gate for a rule: only organisations of that owner that await approval change, never a
 * declined one, nor one whose decision an operator has undone. Returns the ids of those that changed.
 */
export function approveByRule(
  tx: Transaction,
  { ownerId, ...decision }: Decision & { ownerId: string },
): Promise<string[]> {
  const isOwner = and(eq(memberships.userId, ownerId), eq(memberships.role, 'owner'));
  const owned = tx
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(and(eq(memberships.organisationId, organisations.id), isOwner));
  const undone = tx
    .select({ id: auditEvents.id })
    .from(auditEvents)
    .where(and(eq(auditEvents.organisationId, organisations.id), eq(auditEvents.action, 'decision-undone')));
  return approve(tx, decision, sql`${organisations.approval} = 'pending' and exists ${owned} and not exists ${undone}`);
}

/**
 * Opens the approval gate of an organisation, as `approveByRule` does, if APPROVED_DOMAINS lists the domain of the
 * address that its owner has proved. Returns whether the gate was opened.
 */
export async function approveByAddress(
  app: App,
  tx: Transaction,
  {
    organisationId,
    ownerId,
    email,
    client,
  }: { organisationId: string; ownerId: string; email: string; client: Client },
): Promise<boolean> {
  if (!isApprovedDomain(app, email)) return false;
  const decision = { organisationIds: [organisationId], ownerId, actorId: null, client, now: app.now() };
  return (await approveByRule(tx, decision)).length > 0;
}

/** A suspended organisation does not change: other services would take the approval for its end. */
async function approve(
  tx: Transaction,
  { organisationIds, actorId, keyId, client, now }: Decision,
  which: SQL | undefined,
): Promise<string[]> {
  const changed = await tx
    .update(organisations)
    .set({ approval: 'approved', approvedAt: now, declinedAt: null, declineReason: null })
    .where(and(inArray(organisations.id, organisationIds), isNull(organisations.suspendedAt), which))
    .returning({ id: organisations.id });

  for (const { id } of changed) {
    await recordAudit(tx, now, { action: 'organisation-approved', actorId, keyId, organisationId: id, client });
    await recordChange(tx, now, { type: 'organisation.approved', organisationId: id });
  }
  return changed.map(({ id }) => id);
}

/**
 * Closes the organisations that await approval, and are not suspended, with a reason that operators can read later. Their
 * members' sessions and one-time links end. Returns the ids of those that changed.
 */
export async function declineOrganisations(
  tx: Transaction,
  { organisationIds, actorId, keyId, client, now, reason }: Decision & { reason: string },
) {
  const isPending = and(eq(organisations.approval, 'pending'), isNull(organisations.suspendedAt));
  const waiting = and(inArray(organisations.id, organisationIds), isPending);
  await lockUsersIn(tx, organisationIds);
  const changed = await tx
    .update(organisations)
    .set({ approval: 'declined', declinedAt: now, declineReason: reason })
    .where(waiting)
    .returning({ id: organisations.id });

  for (const { id } of changed) {
    await recordAudit(tx, now, {
      action: 'organisation-declined',
      actorId,
      keyId,
      organisationId: id,
      client,
      details: { reason },
    });
    await recordChange(tx, now, { type: 'organisation.declined', organisationId: id });
  }
  const closed = changed.map(({ id }) => id);
  await endSessionsIn(tx, closed, now);
  await endLinksIn(tx, closed, now);
  return closed;
}
