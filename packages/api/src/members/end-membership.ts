import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Administrator, Reader } from '../auth/principal.ts';
import { organisationField, requireSameOrganisation } from '../auth/sessions/require-same-organisation.ts';
import { recordChange } from '../changes/record-change.ts';
import type { Transaction } from '../platform/db/client.ts';
import { memberships } from '../platform/db/schema/members.ts';
import type { Client } from '../platform/security/client.ts';
import { lockMembers, requireAdministrator, requireAnotherOwner, requireMember, requireOwner } from './lock-members.ts';

export const removeInput = z.object({
  organisation_id: organisationField,
  user_id: z.uuid('There is no such member.'),
});

export const leaveInput = z.object({ organisation_id: organisationField });

/**
 * Removes a member from the organisation, from their next request on. The account stays; the
 * invitations that the member created are deleted with the membership.
 *
 * @throws AppError NO_ORGANISATION; FORBIDDEN if the principal is no longer an administrator under
 *   the lock of the members, or if the member is an owner and the principal is not; NOT_FOUND if
 *   the user is not a member, or the page was another organisation's; VALIDATION for the last owner;
 *   UNAUTHENTICATED if the session ended meanwhile.
 */
export async function removeMember(
  app: App,
  principal: Administrator,
  { organisation_id, user_id: userId }: z.output<typeof removeInput>,
  client: Client,
): Promise<void> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);

  await app.db.transaction(async (tx) => {
    const members = await lockMembers(tx, organisationId);
    const own = await requireAdministrator(tx, members, principal);
    const role = requireMember(members, userId);
    if (role === 'owner') {
      requireOwner(own);
      requireAnotherOwner(members, userId);
    }

    await endMembership(tx, app.now(), { organisationId, userId });
    const entry = { actorId: principal.user.id, userId, organisationId, client, details: { role } };
    await recordAudit(tx, app.now(), { action: 'member-removed', ...entry });
  });
}

/**
 * Ends the principal's own membership in the current organisation.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND if the membership has
 *   ended already, or the page was another organisation's; VALIDATION for the last owner.
 */
export async function leaveOrganisation(
  app: App,
  principal: Reader,
  { organisation_id }: z.output<typeof leaveInput>,
  client: Client,
): Promise<void> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);

  await app.db.transaction(async (tx) => {
    const members = await lockMembers(tx, organisationId);
    const role = requireMember(members, principal.user.id);
    if (role === 'owner') requireAnotherOwner(members, principal.user.id);

    await endMembership(tx, app.now(), { organisationId, userId: principal.user.id });
    const entry = { actorId: principal.user.id, userId: principal.user.id, organisationId, client, details: { role } };
    await recordAudit(tx, app.now(), { action: 'organisation-left', ...entry });
  });
}

async function endMembership(
  tx: Transaction,
  now: Date,
  { organisationId, userId }: { organisationId: string; userId: string },
): Promise<void> {
  await tx
    .delete(memberships)
    .where(and(eq(memberships.organisationId, organisationId), eq(memberships.userId, userId)));
  await recordChange(tx, now, { type: 'member.left', organisationId, userId });
}
