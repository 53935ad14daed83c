import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Approved } from '../auth/principal.ts';
import { accountById, lockUser } from '../auth/sessions/account.ts';
import { chooseOrganisation } from '../auth/sessions/current-organisation.ts';
import { recordJoined } from '../changes/record-change.ts';
import { approveByAddress, approveByRule } from '../organisations/approve.ts';
import { createOrganisation } from '../organisations/organisation.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { AppError } from '../platform/errors.ts';
import { message, zodMessage } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import { oneLine } from '../platform/security/text.ts';

export const createOrganisationInput = z.object({
  org_name: oneLine(100).refine((name) => name !== '', zodMessage('enter_name')),
});

/**
 * Creates an organisation for a user who belongs to none, with the user as its owner. It awaits
 * approval as after sign-up, and so does the user: until then only joining another organisation
 * is possible. APPROVED_DOMAINS approve it at once, because the address is verified, and so
 * does an operator's mark, because an operator may approve any organisation.
 *
 * @returns whether it awaits approval.
 * @throws AppError UNAUTHENTICATED; AWAITING_APPROVAL; FORBIDDEN if the account was closed;
 *   VALIDATION if the user belongs to an organisation, and for an unusable name.
 */
export async function createOwnOrganisation(
  app: App,
  principal: Approved,
  { org_name: name }: z.output<typeof createOrganisationInput>,
  client: Client,
): Promise<{ awaiting_approval: boolean }> {
  const { user, sessionId } = principal;

  return app.db.transaction(async (tx) => {
    // Concurrent requests and joins of one user run in turn.
    await lockUser(tx, user.id);
    const account = await accountById(tx, user.id);
    if (account === null) throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
    if (account.accountStatus === 'closed') throw new AppError('FORBIDDEN', message('account_closed'));
    if ((await tx.$count(memberships, eq(memberships.userId, user.id))) > 0) {
      throw new AppError('VALIDATION', message('belongs_already'));
    }
    if (account.accountStatus !== 'active') {
      throw new AppError('AWAITING_APPROVAL', message('account_awaits_approval'));
    }

    const now = app.now();
    const organisationId = await createOrganisation(tx, now, { ownerId: user.id, name, email: account.user.email });
    await tx.update(users).set({ invitedOnly: false }).where(eq(users.id, user.id));
    await chooseOrganisation(tx, { userId: user.id, sessionId, organisationId });
    await recordAudit(tx, now, {
      action: 'organisation-created',
      actorId: user.id,
      userId: user.id,
      organisationId,
      client,
    });
    await recordJoined(tx, now, { organisationId, userId: user.id });

    const { email, operator } = account.user;
    if (!operator) return { awaiting_approval: !(await approveByAddress(app, tx, { organisationId, email, client })) };
    await approveByRule(tx, { organisationIds: [organisationId], actorId: user.id, client, now });
    return { awaiting_approval: false };
  });
}
