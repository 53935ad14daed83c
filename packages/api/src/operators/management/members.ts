import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { ManagingKey, Role } from '../../auth/principal.ts';
import { lockUser } from '../../auth/sessions/account.ts';
import { readableTarget, targetField } from '../../auth/sessions/target-organisation.ts';
import { requireRoomForMember } from '../../billing/usage/member-room.ts';
import { setRole } from '../../members/change-role.ts';
import { removeFrom } from '../../members/end-membership.ts';
import { hasAnotherOwner, lockMembers, type Members, requireMember } from '../../members/lock-members.ts';
import { addMember } from '../../organisations/organisation.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { isUuid } from '../../platform/db/id.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { byKey, conflict, requireNoOperator } from './authority.ts';
import { lockRow } from './organisations.ts';

export const addMemberInput = z.strictObject({
  organisation: targetField,
  user: z.uuid('This must be the id of a user.'),
  role: z.enum(['owner', 'admin', 'member', 'viewer'], zodMessage('choose_role')),
});
export const changeMemberInput = z.strictObject({
  organisation: targetField,
  user_id: z.string(),
  role: z.enum(
    ['admin', 'member', 'viewer'],
    'This must be admin, member or viewer: owners pass ownership on themselves.',
  ),
});
export const removeMemberInput = z.strictObject({
  organisation: targetField,
  user_id: z.string(),
  keep_keys: z.boolean('This must be true or false.').default(false),
});

/**
 * Makes a user a member. An owner is made only while there is none.
 *
 * @throws AppError NOT_FOUND; VALIDATION for an unknown user; FORBIDDEN for an operator; CONFLICT for a member, and for an
 *   owner where there is one; LIMIT_REACHED if the plan does not allow another member.
 */
export async function addManagedMember(
  app: App,
  key: ManagingKey,
  { organisation: named, user, role }: z.output<typeof addMemberInput>,
  client: Client,
) {
  const { organisationId } = await readableTarget(app, key, named);
  const userId = user.toLowerCase();

  return app.db.transaction(async (tx) => {
    if (!(await lockUser(tx, userId))) throw invalid({ user: 'There is no such user.' });
    await requireNoOperator(tx, userId);
    await lockRow(tx, organisationId);
    const members = await lockMembers(tx, organisationId);
    if (members.has(userId)) throw conflict('This user is a member already.');
    if (role === 'owner' && [...members.values()].some((each) => each.role === 'owner')) {
      throw conflict('This organisation has an owner.');
    }
    await requireRoomForMember(app, tx, organisationId);

    await addMember(tx, app.now(), { organisationId, userId, role });
    const entry = { ...byKey(key, client), userId, organisationId, details: { role } };
    await recordAudit(tx, app.now(), { action: 'member-added', ...entry });
    return { user: userId, role };
  });
}

/**
 * Changes a member's role; with a role without ADMIN, what the member made by it ends.
 *
 * @throws AppError NOT_FOUND for an organisation or member that is unknown; FORBIDDEN for an operator; CONFLICT for the
 *   last owner.
 */
export async function changeManagedMember(
  app: App,
  key: ManagingKey,
  { role, ...named }: z.output<typeof changeMemberInput>,
  client: Client,
): Promise<{ user: string; role: Role }> {
  return changeMember(app, key, named, async (tx, { organisationId, userId, before }, requireRest) => {
    if (before !== role) {
      requireRest();
      await setRole(app, tx, { organisationId, userId, before, role, keys: 'revoke' }, byKey(key, client));
    }
    return { user: userId, role };
  });
}

/** Removes a member, whose account stays. @throws AppError as `changeManagedMember`. */
export function removeManagedMember(
  app: App,
  key: ManagingKey,
  { keep_keys, ...named }: z.output<typeof removeMemberInput>,
  client: Client,
) {
  return changeMember(app, key, named, async (tx, { organisationId, userId, before }, requireRest) => {
    requireRest();
    const keys = keep_keys ? 'keep' : 'revoke';
    await removeFrom(app, tx, { organisationId, userId, role: before, keys }, byKey(key, client));
    return { ok: true as const };
  });
}

type Found = { organisationId: string; userId: string; before: Role };

async function changeMember<Answer>(
  app: App,
  key: ManagingKey,
  named: { organisation: string; user_id: string },
  act: (tx: Transaction, found: Found, requireRest: () => void) => Promise<Answer>,
): Promise<Answer> {
  const { organisationId } = await readableTarget(app, key, named.organisation);
  const userId = named.user_id.toLowerCase();
  if (!isUuid(userId)) throw new AppError('NOT_FOUND', message('no_such_member'));

  return app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    const members = await lockMembers(tx, organisationId);
    const before = requireMember(members, userId);
    await requireNoOperator(tx, userId);
    return act(tx, { organisationId, userId, before }, () => requireAnOwnerStays(members, userId));
  });
}

/** @throws AppError CONFLICT for the last owner. */
function requireAnOwnerStays(members: Members, userId: string): void {
  if (members.get(userId)?.role === 'owner' && !hasAnotherOwner(members, userId))
    throw conflict('This is the last owner: they transfer the ownership first.');
}
