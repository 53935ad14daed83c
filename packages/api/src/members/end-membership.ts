import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import type { Administrator, Approved, Role } from '../auth/principal.ts';
import { organisationField, requireSameOrganisation } from '../auth/sessions/require-same-organisation.ts';
import { recordChange } from '../changes/record-change.ts';
import { type Ended, endStarted, keepKeysField, readStarted, revokeKeysField } from '../organisations/started.ts';
import type { Transaction } from '../platform/db/client.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { AppError } from '../platform/errors.ts';
import { message, zodMessage } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import { isOnlyOwner } from './list-members.ts';
import { lockMembers, requireAdministrator, requireAnotherOwner, requireMember, requireOwner } from './lock-members.ts';

export const removeInput = z.object({
  organisation_id: organisationField,
  user_id: z.uuid(zodMessage('no_such_member')),
  keep_keys: keepKeysField,
});

export const leaveInput = z.object({ organisation_id: organisationField, revoke_keys: revokeKeysField });

/**
 * Removes a member from the organisation, from their next request on. The account stays; the invitations that the
 * member made here end, and their API keys too, unless the administrator keeps them. Returns what ended.
 *
 * @throws AppError NO_ORGANISATION; FORBIDDEN if the principal is no longer an administrator under
 *   the lock of the members, or if the member is an owner and the principal is not; NOT_FOUND if
 *   the user is not a member, or the page was another organisation's; VALIDATION for the last owner;
 *   UNAUTHENTICATED if the session ended meanwhile.
 */
export async function removeMember(
  app: App,
  principal: Administrator,
  { organisation_id, user_id: userId, keep_keys: keepsKeys = false }: z.output<typeof removeInput>,
  client: Client,
): Promise<Ended> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);

  return app.db.transaction(async (tx) => {
    const members = await lockMembers(tx, organisationId);
    const own = await requireAdministrator(tx, members, principal);
    const role = requireMember(members, userId);
    if (role === 'owner') {
      requireOwner(own, message('owner_makes_owners'));
      requireAnotherOwner(members, userId);
    }

    const keys = keepsKeys ? 'keep' : 'revoke';
    return removeFrom(app, tx, { organisationId, userId, role, keys }, { actorId: principal.user.id, client });
  });
}

type Removal = { organisationId: string; userId: string; role: Role; keys: 'keep' | 'revoke' };

/** Removes a member, whose organisation the caller has locked, as `removeMember` does. */
export async function removeFrom(
  app: App,
  tx: Transaction,
  { organisationId, userId, role, keys }: Removal,
  actor: Actor,
): Promise<Ended> {
  const ended = await endStarted(tx, app.now(), { userId, of: { organisationId }, keys, actor });
  await endMembership(tx, app.now(), { organisationId, userId });
  const entry = { ...actor, userId, organisationId, details: { role } };
  await recordAudit(tx, app.now(), { action: 'member-removed', ...entry });
  return ended;
}

/**
 * Ends the principal's own membership in the current organisation. The invitations that they made here end; their API
 * keys stay, unless they say otherwise. Returns what ended.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND if the membership has
 *   ended already, or the page was another organisation's; VALIDATION for the last owner.
 */
export async function leaveOrganisation(
  app: App,
  principal: Approved,
  { organisation_id, revoke_keys: revokesKeys = false }: z.output<typeof leaveInput>,
  client: Client,
): Promise<Ended> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);

  return app.db.transaction(async (tx) => {
    const members = await lockMembers(tx, organisationId);
    const role = requireMember(members, principal.user.id);
    if (role === 'owner') requireAnotherOwner(members, principal.user.id);

    const { id: userId } = principal.user;
    const keys = revokesKeys ? 'revoke' : 'keep';
    const actor = { actorId: userId, client };
    const ended = await endStarted(tx, app.now(), { userId, of: { organisationId }, keys, actor });
    await endMembership(tx, app.now(), { organisationId, userId });
    const entry = { actorId: userId, userId, organisationId, client, details: { role } };
    await recordAudit(tx, app.now(), { action: 'organisation-left', ...entry });
    return ended;
  });
}

export const startedByInput = z.object({ user_id: z.uuid(zodMessage('no_such_member')) });

/**
 * Returns what ends with the membership of a member of the organisation.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND if the user is not a member.
 */
export async function readStartedBy(
  app: App,
  principal: Administrator,
  { user_id: userId }: z.output<typeof startedByInput>,
) {
  const { id: organisationId } = principal.requireOrganisation();
  const isTheirs = and(eq(memberships.organisationId, organisationId), eq(memberships.userId, userId));
  if ((await app.db.$count(memberships, isTheirs)) === 0) throw new AppError('NOT_FOUND', message('no_such_member'));
  return readStarted(app.db, app.now(), { userId, of: { organisationId } });
}

/** Returns what ends with the principal's own membership; null for an only owner, who cannot leave. @throws AppError NO_ORGANISATION. */
export async function readOwnStarted(app: App, principal: Approved) {
  const { id: organisationId } = principal.requireOrganisation();
  if (await isOnlyOwner(app, principal)) return null;
  return readStarted(app.db, app.now(), { userId: principal.user.id, of: { organisationId } });
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
