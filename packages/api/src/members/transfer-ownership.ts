import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { confirmation, confirmUser } from '../auth/password/fresh-sign-in.ts';
import type { Administrator } from '../auth/principal.ts';
import { lockUser } from '../auth/sessions/account.ts';
import { organisationField, requireSameOrganisation } from '../auth/sessions/require-same-organisation.ts';
import { requireExistingSession } from '../auth/sessions/session.ts';
import { recordChange } from '../changes/record-change.ts';
import type { Transaction } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { invalid } from '../platform/errors.ts';
import { message } from '../platform/messages.ts';
import { emailField } from '../platform/security/address.ts';
import type { Client } from '../platform/security/client.ts';
import { lockMembers, requireOwner } from './lock-members.ts';

export const transferInput = z.object({
  organisation_id: organisationField,
  /** The member who becomes owner, by the address that the members page shows. */
  email: emailField,
  ...confirmation,
});

/**
 * Makes a member an owner, and the owner who asks an admin, in one transaction. The caller
 * confirms it by the password, or by a fresh session.
 *
 * @throws AppError NO_ORGANISATION; FORBIDDEN if the caller is not an owner, or no longer one; FRESH_SIGN_IN_REQUIRED; NOT_FOUND for another organisation; VALIDATION for an address of no member, of an owner, or of a
 *   suspended member; UNAUTHENTICATED for a wrong password or an ended session; TOO_MANY; BUSY if too many passwords
 *   are being hashed.
 */
export async function transferOwnership(
  app: App,
  principal: Administrator,
  { organisation_id, email, ...confirming }: z.output<typeof transferInput>,
  client: Client,
): Promise<void> {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);
  requireOwner(principal.role, message('owner_transfers'));
  await confirmUser(app, principal, confirming, client);

  await app.db.transaction(async (tx) => {
    const userId = await memberBy(tx, organisationId, email);
    // A new owner who deletes the account at the same time would leave an organisation without one.
    if (userId !== null) await lockUser(tx, userId);
    const members = await lockMembers(tx, organisationId);
    await requireExistingSession(tx, principal);
    requireOwner(members.get(principal.user.id)?.role ?? null, message('owner_transfers'));
    const target = userId === null ? undefined : members.get(userId);
    if (userId === null || target === undefined) throw invalid({ email: message('no_member_with_address') });
    if (target.role === 'owner') throw invalid({ email: message('owner_already') });
    if (target.suspended) throw invalid({ email: message('account_suspended') });

    await setRole(app, tx, { organisationId, userId, role: 'owner' });
    await setRole(app, tx, { organisationId, userId: principal.user.id, role: 'admin' });
    await recordAudit(tx, app.now(), {
      action: 'ownership-transferred',
      actorId: principal.user.id,
      userId,
      organisationId,
      client,
      details: { from: target.role, to: 'owner' },
    });
  });
}

async function memberBy(tx: Transaction, organisationId: string, email: string): Promise<string | null> {
  const [member] = await tx
    .select({ id: users.id })
    .from(users)
    .innerJoin(memberships, and(eq(memberships.userId, users.id), eq(memberships.organisationId, organisationId)))
    .where(eq(users.email, email));
  return member?.id ?? null;
}

type NewRole = { organisationId: string; userId: string; role: 'owner' | 'admin' };

async function setRole(app: App, tx: Transaction, { organisationId, userId, role }: NewRole): Promise<void> {
  await tx
    .update(memberships)
    .set({ role })
    .where(and(eq(memberships.organisationId, organisationId), eq(memberships.userId, userId)));
  await recordChange(tx, app.now(), { type: 'member.role_changed', organisationId, userId, data: { role } });
}
