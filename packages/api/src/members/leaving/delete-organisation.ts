import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { confirmUser } from '../../auth/password/confirm-user.ts';
import type { Administrator, UserPrincipal } from '../../auth/principal.ts';
import { organisationField, requireSameOrganisation } from '../../auth/sessions/require-same-organisation.ts';
import { requireExistingSession } from '../../auth/sessions/session.ts';
import { endSubscriptions, mayBeBilled } from '../../billing/actions/end-subscriptions.ts';
import { recordChange } from '../../changes/record-change.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { requestErasure } from './erasures/request-erasure.ts';
import { lockForDeletion, organisationsChanged } from './lock-for-deletion.ts';

export const deleteOrganisationInput = z.object({
  organisation_id: organisationField,
  password: z.string({ error: 'Enter your password.' }).optional(),
});

/**
 * Deletes the organisation that the principal acts for, and with it its memberships,
 * invitations and usage; the members' accounts stay. Its subscriptions end at the provider
 * first: while the provider does not answer, nothing is deleted.
 *
 * @throws AppError NO_ORGANISATION; FORBIDDEN if the caller is not an owner, or no longer one, or if the sign-in is not
 *   recent; NOT_FOUND for another organisation; UNAUTHENTICATED for a wrong password or an ended session; TOO_MANY;
 *   BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or BUSY if a subscription cannot be ended; BUSY if the organisation
 *   changed meanwhile, or if too many passwords are being hashed.
 */
export async function deleteOrganisation(
  app: App,
  principal: Administrator,
  { organisation_id, password }: z.output<typeof deleteOrganisationInput>,
  client: Client,
): Promise<void> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);
  requireOwnRole(principal.role);
  await confirmUser(app, principal, password, client);
  await endSubscriptions(app, organisationId);

  await app.db.transaction(async (tx) => {
    await lockForDeletion(tx, { ending: [organisationId] });
    await requireExistingSession(tx, principal);
    const [own] = await tx
      .select({ role: memberships.role })
      .from(memberships)
      .where(and(eq(memberships.organisationId, organisationId), eq(memberships.userId, principal.user.id)));
    requireOwnRole(own?.role ?? null);
    // A member has started a checkout or paid for one meanwhile.
    if (await mayBeBilled(app, tx, organisationId)) throw organisationsChanged();

    await recordChange(tx, app.now(), { type: 'organisation.deleted', organisationId });
    await tx.delete(organisations).where(eq(organisations.id, organisationId));
    await recordAudit(tx, app.now(), {
      action: 'organisation-deleted',
      actorId: principal.user.id,
      organisationId,
      client,
    });
    await requestErasure(app, tx, { deleted: [organisationId] });
  });
  app.jobs.wake('erasure');
}

function requireOwnRole(role: UserPrincipal['role']): void {
  if (role !== 'owner') throw new AppError('FORBIDDEN', 'Only an owner may delete the organisation.');
}
