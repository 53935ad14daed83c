import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordChange } from '../../changes/record-change.ts';
import { endLinksIn, endSessionsIn, lockUsersIn } from '../../organisations/end-access.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import type { Actor } from '../actor.ts';
import { readOrganisationNames } from '../find-accounts.ts';
import { reasonDetails } from '../reason.ts';

type Input = { organisationId: string };

/**
 * Closes an organisation: the sessions and one-time links of its members end at once. Links of the
 * time before stay ended after the organisation is restored.
 *
 * @returns the time of the suspension.
 * @throws AppError NOT_FOUND; VALIDATION if the organisation is suspended already.
 */
export function suspendOrganisation(
  app: App,
  { organisationId, reason }: Input & { reason?: string | undefined },
  actor: Actor,
): Promise<Date> {
  return app.db.transaction(async (tx) => {
    const now = app.now();
    const { slug } = await readOrganisationNames(tx, organisationId);
    await lockUsersIn(tx, [organisationId]);
    const changed = await tx
      .update(organisations)
      .set({ suspendedAt: now })
      .where(and(eq(organisations.id, organisationId), isNull(organisations.suspendedAt)))
      .returning({ id: organisations.id });
    if (changed.length === 0) throw new AppError('VALIDATION', `${slug} is suspended already.`);

    await endSessionsIn(tx, [organisationId]);
    await endLinksIn(tx, [organisationId], now);
    await recordAudit(tx, now, {
      action: 'organisation-suspended',
      ...actor,
      organisationId,
      ...reasonDetails(reason),
    });
    await recordChange(tx, now, { type: 'organisation.suspended', organisationId });
    return now;
  });
}

/**
 * Ends a suspension and brings back the state before it: a declined organisation stays declined.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the organisation is not suspended, or with `suspendedAt` not
 *   since then.
 */
export function restoreOrganisation(
  app: App,
  { organisationId, suspendedAt }: Input & { suspendedAt?: Date | undefined },
  actor: Actor,
): Promise<void> {
  const suspendedThen = suspendedAt ? eq(organisations.suspendedAt, suspendedAt) : isNotNull(organisations.suspendedAt);

  return app.db.transaction(async (tx) => {
    const { slug } = await readOrganisationNames(tx, organisationId);
    const changed = await tx
      .update(organisations)
      .set({ suspendedAt: null })
      .where(and(eq(organisations.id, organisationId), suspendedThen))
      .returning({ id: organisations.id });
    if (changed.length === 0) {
      throw new AppError(
        'VALIDATION',
        suspendedAt ? `${slug} was restored since this page was loaded.` : `${slug} is not suspended.`,
      );
    }

    await recordAudit(tx, app.now(), { action: 'organisation-restored', ...actor, organisationId });
    await recordChange(tx, app.now(), { type: 'organisation.restored', organisationId });
  });
}
