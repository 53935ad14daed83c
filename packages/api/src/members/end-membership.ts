import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { memberships } from '../db/schema/members.ts';
import type { Client } from '../security/client.ts';
import { type Principal, requireScope } from '../sessions/principal.ts';
import { organisationField, requireSameOrganisation } from '../sessions/require-same-organisation.ts';
import { lockMembers, requireAdministrator, requireAnotherOwner, requireMember, requireOwner } from './lock-members.ts';

export const removeInput = z.object({
  organisation_id: organisationField,
  user_id: z.uuid('There is no such member.'),
});

export const leaveInput = z.object({ organisation_id: organisationField });

/**
 * Removes a member from the organisation, from their next request on. The account stays; the
 * invitations that the member made are deleted with the membership.
 *
 * @throws AppError UNAUTHENTICATED, NO_ORGANISATION; FORBIDDEN without ADMIN, or if the member is an
 *   owner and the principal is not; NOT_FOUND if the user is not a member, or the page was another
 *   organisation's; VALIDATION for the last owner.
 */
export async function removeMember(
  app: App,
  principal: Principal | null,
  { organisation_id, user_id: userId }: z.output<typeof removeInput>,
  client: Client,
): Promise<void> {
  const caller = requireScope(principal, 'ADMIN');
  const { id: organisationId } = requireSameOrganisation(caller, organisation_id);

  await app.db.transaction(async (tx) => {
    const members = await lockMembers(tx, organisationId);
    const own = requireAdministrator(members, caller.user.id);
    const role = requireMember(members, userId);
    if (role === 'owner') {
      requireOwner(own);
      requireAnotherOwner(members, userId);
    }

    await endMembership(tx, organisationId, userId);
    const entry = { actorId: caller.user.id, userId, organisationId, client, details: { role } };
    await recordAudit(tx, app.now(), { action: 'member-removed', ...entry });
  });
}

/**
 * Ends the principal's own membership in the current organisation.
 *
 * @throws AppError UNAUTHENTICATED, FORBIDDEN, NO_ORGANISATION; NOT_FOUND if the membership has
 *   ended already, or the page was another organisation's; VALIDATION for the last owner.
 */
export async function leaveOrganisation(
  app: App,
  principal: Principal | null,
  { organisation_id }: z.output<typeof leaveInput>,
  client: Client,
): Promise<void> {
  const caller = requireScope(principal, 'READ');
  const { id: organisationId } = requireSameOrganisation(caller, organisation_id);

  await app.db.transaction(async (tx) => {
    const members = await lockMembers(tx, organisationId);
    const role = requireMember(members, caller.user.id);
    if (role === 'owner') requireAnotherOwner(members, caller.user.id);

    await endMembership(tx, organisationId, caller.user.id);
    const entry = { actorId: caller.user.id, userId: caller.user.id, organisationId, client, details: { role } };
    await recordAudit(tx, app.now(), { action: 'organisation-left', ...entry });
  });
}

async function endMembership(tx: Transaction, organisationId: string, userId: string): Promise<void> {
  await tx
    .delete(memberships)
    .where(and(eq(memberships.organisationId, organisationId), eq(memberships.userId, userId)));
}
