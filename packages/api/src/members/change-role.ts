import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { invitations, memberships } from '../db/schema/members.ts';
import type { Client } from '../security/client.ts';
import { type Principal, requireScope } from '../sessions/principal.ts';
import { organisationField, requireSameOrganisation } from '../sessions/require-same-organisation.ts';
import { lockMembers, requireAdministrator, requireAnotherOwner, requireMember, requireOwner } from './lock-members.ts';

export const changeRoleInput = z.object({
  organisation_id: organisationField,
  user_id: z.uuid('There is no such member.'),
  role: z.enum(['owner', 'admin', 'member', 'viewer'], 'Choose a role.'),
});

/**
 * Gives a member another role, from their next request on. Whoever may invite nobody
 * any more takes the invitations that they made along.
 *
 * @throws AppError FORBIDDEN without ADMIN, or where an owner is made or unmade by somebody
 *   else; NOT_FOUND for who is no member; VALIDATION for the last owner.
 */
export async function changeRole(
  app: App,
  principal: Principal | null,
  { organisation_id, user_id: userId, role }: z.output<typeof changeRoleInput>,
  client: Client,
): Promise<void> {
  const who = requireScope(principal, 'ADMIN');
  const { id: organisationId } = requireSameOrganisation(who, organisation_id);

  await app.db.transaction(async (tx) => {
    const members = await lockMembers(tx, organisationId);
    const own = requireAdministrator(members, who.user.id);
    const before = requireMember(members, userId);
    if (before === 'owner' || role === 'owner') requireOwner(own);
    if (before === role) return;
    if (before === 'owner') requireAnotherOwner(members, userId);

    const membership = and(eq(memberships.organisationId, organisationId), eq(memberships.userId, userId));
    await tx.update(memberships).set({ role }).where(membership);
    if (role === 'member' || role === 'viewer') {
      await tx
        .delete(invitations)
        .where(and(eq(invitations.organisationId, organisationId), eq(invitations.madeBy, userId)));
    }
    await recordAudit(tx, app.now(), {
      action: 'role-changed',
      actorId: who.user.id,
      userId,
      organisationId,
      client,
      details: { from: before, to: role },
    });
  });
}
