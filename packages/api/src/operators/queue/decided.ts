import { and, desc, eq, gt, inArray, isNotNull, isNull, ne, notExists, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Operator } from '../../auth/principal.ts';
import { recordChange } from '../../changes/record-change.ts';
import { nameColumns } from '../../organisations/account-status.ts';
import { lockOrganisation } from '../../organisations/organisation.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { paymentCheckouts, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { pageOf } from '../../platform/security/keyset-pagination.ts';
import { beforeCursor, cursorOf } from '../../platform/security/time-cursor.ts';
import { shownTime } from '../actor.ts';
import { readOrganisationNames } from '../find-accounts.ts';
import { organisationColumns, organisationInput } from '../organisations/read-organisations.ts';
import { cursorInput } from '../pagination.ts';

const rowsPerPage = 50;

export const decidedInput = z.object({ after: cursorInput });

/**
 * Returns a page of the decided requests, the newest decision first, each with who decided and
 * whether the decision can still be undone.
 */
export async function readDecided(app: App, principal: Operator, { after }: z.output<typeof decidedInput>) {
  const { organisationId: own } = principal;

  const rows = await app.db
    .select({
      organisation: nameColumns,
      owner: organisationColumns.owner,
      approval: organisations.approval,
      suspendedAt: organisations.suspendedAt,
      reason: organisations.declineReason,
      decidedAt: decidedAt.mapWith(organisations.approvedAt),
      decidedBy: decidedBy(),
    })
    .from(organisations)
    .where(
      and(
        ne(organisations.approval, 'pending'),
        isNotNull(decidedAt),
        beforeCursor(decidedAt, organisations.id, after),
      ),
    )
    .orderBy(desc(decidedAt), desc(organisations.id))
    .limit(rowsPerPage + 1);

  const { page, next } = pageOf(rows, rowsPerPage, ({ decidedAt: at, organisation }) => cursorOf(at, organisation.id));
  return {
    decided: page.map(({ decidedAt: at, decidedBy: by, suspendedAt, approval, ...row }) => ({
      ...row,
      decision: approval === 'declined' ? ('declined' as const) : ('approved' as const),
      decided_at: at.toISOString(),
      /** The address of the operator; null for an admin command or a rule. */
      decided_by: by,
      can_undo: suspendedAt === null && row.organisation.id !== own && canBeUndone(app, at),
    })),
    next,
  };
}

function decidedBy() {
  return sql<string | null>`(
    select deciders.email from audit_events entries left join users deciders on deciders.id = entries.actor_id
    where entries.organisation_id = organisations.id
      and entries.action in ('organisation-approved', 'organisation-declined')
    order by entries.at desc, entries.id desc limit 1)`;
}

export const undoInput = organisationInput.extend({ decided_at: shownTime });

/** When an organisation was approved or declined. At most one of the two times is set. */
const decidedAt = sql<Date>`coalesce(${organisations.declinedAt}, ${organisations.approvedAt})`;

/** Whether a decision is less than a day old. */
function canBeUndone(app: App, at: Date): boolean {
  return at > undoLimit(app);
}

/**
 * Returns an organisation to the queue of those that await a decision, within a day of the decision. Its members keep
 * their sessions, and wait with it. A decision of another operator since then stays. An organisation that pays or is
 * paying keeps its approval, because the provider would continue to charge it: it can be suspended instead.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the decision was changed since, or is older than a day, for a suspended
 *   or paying organisation, and for the operator's own.
 */
export async function undoDecision(
  app: App,
  principal: Operator,
  { organisation_id: id, decided_at }: z.output<typeof undoInput>,
  client: Client,
) {
  if (principal.organisation?.id === id) throw new AppError('VALIDATION', message('own_approval_undone'));

  return app.db.transaction(async (tx) => {
    const { name, slug } = await readOrganisationNames(tx, id);
    if (!(await undoOne(app, tx, principal, { id, decided_at }, client))) {
      throw new AppError('VALIDATION', message('decision_final', { name: name ?? slug }));
    }
    return { id, name: name ?? slug };
  });
}

export const undoSeveralInput = z.object({ decided_at: shownTime });

/**
 * Undoes what an operator decided at once, by its time, as `undoDecision` does one decision. Those that can no longer be
 * undone keep their decision. Returns how many wait again, and how many do not.
 *
 * @throws AppError NOT_FOUND if the operator decided nothing then.
 */
export async function undoDecisions(
  app: App,
  principal: Operator,
  { decided_at }: z.output<typeof undoSeveralInput>,
  client: Client,
) {
  return app.db.transaction(async (tx) => {
    const decided = await tx
      .selectDistinct({ id: auditEvents.organisationId })
      .from(auditEvents)
      .where(
        and(
          eq(auditEvents.actorId, principal.user.id),
          eq(auditEvents.at, decided_at),
          inArray(auditEvents.action, ['organisation-approved', 'organisation-declined']),
        ),
      )
      .orderBy(auditEvents.organisationId);
    const ids = decided.flatMap(({ id }) => (id === null || id === principal.organisation?.id ? [] : [id]));
    if (ids.length === 0) throw new AppError('NOT_FOUND', message('no_such_organisation'));

    let undone = 0;
    // In the order of their ids, so that two operators who undo at once do not wait for each other.
    for (const id of ids) if (await undoOne(app, tx, principal, { id, decided_at }, client)) undone += 1;
    return { undone, kept: ids.length - undone };
  });
}

/** Returns an organisation to the queue. Returns false if its decision was changed since, or cannot be undone. */
async function undoOne(
  app: App,
  tx: Transaction,
  { user }: Operator,
  { id, decided_at }: { id: string; decided_at: Date },
  client: Client,
): Promise<boolean> {
  // A checkout that is being opened waits for the lock, or is stored and seen below.
  await lockOrganisation(tx, id);
  const wasApproved = (await tx.$count(organisations, and(eq(organisations.id, id), isApproved))) > 0;
  const [changed] = await tx
    .update(organisations)
    .set({ approval: 'pending', approvedAt: null, declinedAt: null, declineReason: null })
    .where(
      and(
        eq(organisations.id, id),
        ne(organisations.approval, 'pending'),
        eq(decidedAt, decided_at.toISOString()),
        isNull(organisations.suspendedAt),
        gt(decidedAt, undoLimit(app).toISOString()),
        notExists(liveSubscription(tx, id)),
        notExists(openCheckout(tx, id)),
      ),
    )
    .returning({ id: organisations.id });
  if (changed === undefined) return false;

  await recordAudit(tx, app.now(), { action: 'decision-undone', actorId: user.id, client, organisationId: id });
  // Without the approval access ends. Without the decline nothing changes for other services.
  if (wasApproved) {
    await recordChange(tx, app.now(), {
      type: 'organisation.suspended',
      organisationId: id,
      data: { approval: 'pending' },
    });
  }
  return true;
}

const isApproved = eq(organisations.approval, 'approved');

function undoLimit(app: App): Date {
  return new Date(app.now().getTime() - dayMilliseconds);
}

function liveSubscription(tx: Transaction, organisationId: string) {
  return tx
    .select({ id: paymentSubscriptions.id })
    .from(paymentSubscriptions)
    .where(and(eq(paymentSubscriptions.organisationId, organisationId), eq(paymentSubscriptions.ended, false)));
}

function openCheckout(tx: Transaction, organisationId: string) {
  return tx
    .select({ id: paymentCheckouts.id })
    .from(paymentCheckouts)
    .where(and(eq(paymentCheckouts.organisationId, organisationId), isNull(paymentCheckouts.closedAt)));
}
