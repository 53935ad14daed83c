import { and, asc, gt } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { ManagingKey } from '../../auth/principal.ts';
import { readableTarget, targetField } from '../../auth/sessions/target-organisation.ts';
import { deleteInvitation, isOpen, storeInvitation } from '../../members/invitations.ts';
import { approvalOf } from '../../organisations/account-status.ts';
import { isUuid } from '../../platform/db/id.ts';
import { invitations } from '../../platform/db/schema/members.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { emailField } from '../../platform/security/address.ts';
import type { Client } from '../../platform/security/client.ts';
import { idAfter, keysetInput, keysetPageOf } from '../../platform/security/keyset-pagination.ts';
import { byKey, conflict, lockKey } from './authority.ts';
import { lockRow } from './organisations.ts';

export const listInvitationsInput = keysetInput.extend({ organisation: targetField });
export const createInvitationInput = z.strictObject({
  organisation: targetField,
  /** A note about whom the link is for. */
  email: emailField,
  role: z.enum(['admin', 'member', 'viewer'], zodMessage('choose_role')),
});
export const deleteInvitationInput = z.strictObject({ organisation: targetField, invitation: z.string() });

/**
 * Returns a page of an organisation's unused invitations, also those of its administrators, whose note stands in place of
 * an address. `next` is null on the last page.
 *
 * @throws AppError NOT_FOUND; VALIDATION for an unreadable `after`.
 */
export async function listManagedInvitations(app: App, key: ManagingKey, input: z.output<typeof listInvitationsInput>) {
  const after = idAfter(input);
  const { organisationId } = await readableTarget(app, key, input.organisation);
  const rows = await app.db
    .select()
    .from(invitations)
    .where(and(isOpen(organisationId, app.now()), after === null ? undefined : gt(invitations.id, after)))
    .orderBy(asc(invitations.id))
    .limit(input.limit + 1);

  const { page, next } = keysetPageOf(rows, input.limit);
  return {
    invitations: page.map(({ id, note, role, createdAt, expiresAt }) => ({
      id,
      email: note,
      role,
      created_at: createdAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    })),
    next,
  };
}

/**
 * Creates an invitation, whose link the company hands over: one user joins by it within seven days. It ends with the key.
 *
 * @throws AppError NOT_FOUND; CONFLICT while the organisation is not approved; LIMIT_REACHED if the plan does not allow
 *   another member; VALIDATION if too many invitations are open; INTERNAL without a canonical base URL.
 */
export async function createManagedInvitation(
  app: App,
  key: ManagingKey,
  { organisation, email, role }: z.output<typeof createInvitationInput>,
  client: Client,
) {
  const { organisationId } = await readableTarget(app, key, organisation);
  return app.db.transaction(async (tx) => {
    const approval = approvalOf(await lockRow(tx, organisationId));
    if (approval !== 'approved') throw conflict('This organisation is not approved.');
    await lockKey(tx, key);
    return storeInvitation(app, tx, { organisationId, role, note: email }, byKey(key, client));
  });
}

/** Deletes an unused invitation. @throws AppError NOT_FOUND for an organisation or invitation that is unknown. */
export async function deleteManagedInvitation(
  app: App,
  key: ManagingKey,
  { organisation, invitation }: z.output<typeof deleteInvitationInput>,
  client: Client,
): Promise<{ ok: true }> {
  const { organisationId } = await readableTarget(app, key, organisation);
  if (!isUuid(invitation)) throw new AppError('NOT_FOUND', message('no_such_invitation'));
  const id = invitation.toLowerCase();
  await app.db.transaction((tx) => deleteInvitation(app, tx, { organisationId, id }, byKey(key, client)));
  return { ok: true };
}
