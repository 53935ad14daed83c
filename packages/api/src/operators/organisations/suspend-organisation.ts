import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordChange } from '../../changes/record-change.ts';
import { endLinksIn, endSessionsIn, lockUsersIn } from '../../organisations/end-access.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { type Actor, optionalReason, reasonDetails, shownTime } from '../actor.ts';
import { readOrganisationNames } from '../find-accounts.ts';
import { organisationInput } from './read-organisations.ts';

export const suspendOrganisationInput = organisationInput
  .extend({ reason: optionalReason })
  .transform(({ organisation_id: organisationId, reason }) => ({ organisationId, reason }));
export const restoreOrganisationInput = organisationInput
  .extend({ suspended_at: shownTime })
  .transform(({ organisation_id: organisationId, suspended_at: suspendedAt }) => ({ organisationId, suspendedAt }));

/**
 * Closes an organisation: the sessions and one-time links of its members end at once. Links of the
 * time before stay ended after the organisation is restored. The reason is stored with the audit entry, for operators
 * only.
 *
 * @returns the organisation and the time of the suspension.
 * @throws AppError NOT_FOUND; VALIDATION for the organisation that the operator acts for, or if it is suspended already.
 */
export async function suspendOrganisation(
  app: App,
  { organisationId, reason }: { organisationId: string; reason?: string | undefined },
  actor: Actor,
) {
  if (actor.ownOrganisationId === organisationId) {
    throw new AppError('VALIDATION', message('own_organisation_suspension'));
  }

  return app.db.transaction(async (tx) => {
    const at = await closeOrganisation(app, tx, { organisationId, reason }, actor);
    const named = await readOrganisationNames(tx, organisationId);
    if (at === null) throw new AppError('VALIDATION', message('suspended_already', { name: named.slug }));
    return { ...named, suspended_at: at.toISOString() };
  });
}

/**
 * Suspends an organisation, as `suspendOrganisation` does. Returns the time; null, and changes nothing, if it is
 * suspended already.
 */
export async function closeOrganisation(
  app: App,
  tx: Transaction,
  { organisationId, reason }: { organisationId: string; reason?: string | undefined },
  actor: Actor,
): Promise<Date | null> {
  const now = app.now();
  await lockUsersIn(tx, [organisationId]);
  const changed = await tx
    .update(organisations)
    .set({ suspendedAt: now })
    .where(and(eq(organisations.id, organisationId), isNull(organisations.suspendedAt)))
    .returning({ id: organisations.id });
  if (changed.length === 0) return null;

  await endSessionsIn(tx, [organisationId], now);
  await endLinksIn(tx, [organisationId], now);
  const entry = { action: 'organisation-suspended', ...actor, organisationId, ...reasonDetails(reason) } as const;
  await recordAudit(tx, now, entry);
  await recordChange(tx, now, { type: 'organisation.suspended', organisationId });
  return now;
}

/**
 * Ends a suspension, any or the one that the operator's page showed, and brings back the state before it: a declined organisation stays declined.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the organisation is not suspended, or with `suspendedAt` not
 *   since then.
 */
export function restoreOrganisation(
  app: App,
  { organisationId, suspendedAt }: { organisationId: string; suspendedAt?: Date | undefined },
  actor: Actor,
) {
  return app.db.transaction(async (tx) => {
    const isReopened = await reopenOrganisation(app, tx, { organisationId, suspendedAt }, actor);
    const named = await readOrganisationNames(tx, organisationId);
    if (isReopened) return named;
    throw new AppError('VALIDATION', message(suspendedAt ? 'restored_since' : 'not_suspended', { name: named.slug }));
  });
}

/** Ends a suspension, as `restoreOrganisation` does. Returns false, and changes nothing, if there is none. */
export async function reopenOrganisation(
  app: App,
  tx: Transaction,
  { organisationId, suspendedAt }: { organisationId: string; suspendedAt?: Date | undefined },
  actor: Actor,
): Promise<boolean> {
  const suspendedThen = suspendedAt ? eq(organisations.suspendedAt, suspendedAt) : isNotNull(organisations.suspendedAt);
  const changed = await tx
    .update(organisations)
    .set({ suspendedAt: null })
    .where(and(eq(organisations.id, organisationId), suspendedThen))
    .returning({ id: organisations.id });
  if (changed.length === 0) return false;

  await recordAudit(tx, app.now(), { action: 'organisation-restored', ...actor, organisationId });
  await recordChange(tx, app.now(), { type: 'organisation.restored', organisationId });
  return true;
}
