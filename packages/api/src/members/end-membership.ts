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
 * Takes somebody out of the organisation, from their next request on. Their account
 * stays; the invitations that they made go.
 *
 * @throws AppError FORBIDDEN without ADMIN, or where an owner is removed by somebody else;
 *   NOT_FOUND for who is no member; VALIDATION for the last owner.
 */
export async function removeMember(
  app: App,
  principal: Principal | null,
  { organisation_id, user_id: userId }: z.output<typeof removeInput>,
  client: Client,
): Promise<void> {
  const who = requireScope(principal, 'ADMIN');
  const { id: organisationId } = requireSameOrganisation(who, organisation_id);

  await app.db.transaction(async (tx) => {
    const members = await lockMembers(tx, organisationId);
    const own = requireAdministrator(members, who.user.id);
    const role = requireMember(members, userId);
    if (role === 'owner') {
      requireOwner(own);
      requireAnotherOwner(members, userId);
    }

    await endMembership(tx, organisationId, userId);
    const entry = { actorId: who.user.id, userId, organisationId, client, details: { role } };
    await recordAudit(tx, app.now(), { action: 'member-removed', ...entry });
  });
}

/**
 * Takes the principal themselves out of the organisation that they act for.
 *
 * @throws AppError VALIDATION for the last owner; NOT_FOUND for whoever is out already.
 */
export async function leaveOrganisation(
  app: App,
  principal: Principal | null,
  { organisation_id }: z.output<typeof leaveInput>,
  client: Client,
): Promise<void> {
  const who = requireScope(principal, 'READ');
  const { id: organisationId } = requireSameOrganisation(who, organisation_id);

  await app.db.transaction(async (tx) => {
    const members = await lockMembers(tx, organisationId);
    const role = requireMember(members, who.user.id);
    if (role === 'owner') requireAnotherOwner(members, who.user.id);

    await endMembership(tx, organisationId, who.user.id);
    const entry = { actorId: who.user.id, userId: who.user.id, organisationId, client, details: { role } };
    await recordAudit(tx, app.now(), { action: 'organisation-left', ...entry });
  });
}

async function endMembership(tx: Transaction, organisationId: string, userId: string): Promise<void> {
  await tx
    .delete(memberships)
    .where(and(eq(memberships.organisationId, organisationId), eq(memberships.userId, userId)));
}
