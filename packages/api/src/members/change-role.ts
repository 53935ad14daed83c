import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { confirmation, confirmUser } from '../auth/password/fresh-sign-in.ts';
import type { Administrator, Role } from '../auth/principal.ts';
import { lockUser } from '../auth/sessions/account.ts';
import { organisationField, requireSameOrganisation } from '../auth/sessions/require-same-organisation.ts';
import { recordChange } from '../changes/record-change.ts';
import { type Ended, endStarted, keepKeysField } from '../organisations/started.ts';
import type { Transaction } from '../platform/db/client.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { message, zodMessage } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import { lockMembers, requireAdministrator, requireAnotherOwner, requireMember, requireOwner } from './lock-members.ts';

export const changeRoleInput = z.object({
  organisation_id: organisationField,
  user_id: z.uuid(zodMessage('no_such_member')),
  role: z.enum(['owner', 'admin', 'member', 'viewer'], zodMessage('choose_role')),
  ...confirmation,
  /** Of a role without ADMIN. */
  keep_keys: keepKeysField,
});

/**
 * Changes a member's role, from their next request on. With a new role without ADMIN the invitations that the member
 * made here end, and their API keys too, unless the administrator keeps them or changes their own role. The user is
 * confirmed before a role with ADMIN. Returns what ended; null if the role keeps ADMIN.
 *
 * @throws AppError NO_ORGANISATION; FORBIDDEN if the principal is no longer an administrator under
 *   the lock of the members, or is not an owner and the old or new role is owner; NOT_FOUND if the
 *   user is not a member, or the page was another organisation's; VALIDATION for the last owner;
 *   UNAUTHENTICATED if the session ended meanwhile or the password is wrong; FRESH_SIGN_IN_REQUIRED for a role with
 *   ADMIN; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function changeRole(
  app: App,
  principal: Administrator,
  {
    organisation_id,
    user_id: userId,
    role,
    keep_keys: keepsKeys = false,
    ...confirming
  }: z.output<typeof changeRoleInput>,
  client: Client,
): Promise<Ended | null> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);
  if (role === 'owner' || role === 'admin') await confirmUser(app, principal, confirming, client);

  return app.db.transaction(async (tx) => {
    // A new owner who deletes the account at the same time would leave an organisation without one.
    if (role === 'owner') await lockUser(tx, userId);
    const members = await lockMembers(tx, organisationId);
    const own = await requireAdministrator(tx, members, principal);
    const before = requireMember(members, userId);
    if (before === 'owner' || role === 'owner') requireOwner(own, message('owner_makes_owners'));
    if (before === role) return null;
    if (before === 'owner') requireAnotherOwner(members, userId);

    const keys = keepsKeys || userId === principal.user.id ? 'keep' : 'revoke';
    const actor = { actorId: principal.user.id, client };
    return setRole(app, tx, { organisationId, userId, before, role, keys }, actor);
  });
}

type NewRole = { organisationId: string; userId: string; before: Role; role: Role; keys: 'keep' | 'revoke' };

/** Changes a member's role, whose organisation the caller has locked, and ends what the role no longer allows. */
export async function setRole(
  app: App,
  tx: Transaction,
  { organisationId, userId, before, role, keys }: NewRole,
  actor: Actor,
): Promise<Ended | null> {
  const membership = and(eq(memberships.organisationId, organisationId), eq(memberships.userId, userId));
  await tx.update(memberships).set({ role }).where(membership);
  const losesAdmin = role === 'member' || role === 'viewer';
  const ended = losesAdmin ? await endStarted(tx, app.now(), { userId, of: { organisationId }, keys, actor }) : null;
  const about = { ...actor, userId, organisationId, details: { from: before, to: role } };
  await recordAudit(tx, app.now(), { action: 'role-changed', ...about });
  await recordChange(tx, app.now(), { type: 'member.role_changed', organisationId, userId, data: { role } });
  return ended;
}
