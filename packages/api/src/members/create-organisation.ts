import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Approved } from '../auth/principal.ts';
import { type Account, accountById, lockUser } from '../auth/sessions/account.ts';
import { chooseOrganisation } from '../auth/sessions/current-organisation.ts';
import { requireExistingSession } from '../auth/sessions/session.ts';
import { recordJoined } from '../changes/record-change.ts';
import { approveByAddress, approveByRule } from '../organisations/approve.ts';
import { createOrganisation } from '../organisations/organisation.ts';
import { currentPlan } from '../organisations/plan.ts';
import type { Transaction } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { organisationPlans } from '../platform/db/schema/billing.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { AppError } from '../platform/errors.ts';
import { message, zodMessage } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import { oneLine } from '../platform/security/text.ts';

export const createOrganisationInput = z.object({
  org_name: oneLine(100).refine((name) => name !== '', zodMessage('enter_name')),
});

/**
 * Creates an organisation with the user as its owner. It awaits approval as after sign-up. A user who belongs to no
 * other one awaits it too: until then only joining another organisation is possible. The session of a member of an
 * approved organisation stays there, and moves to the new one if it is approved at once. One organisation of a user may
 * await approval at a time.
 *
 * APPROVED_DOMAINS approve it at once, because the address is verified, unless the user owns another organisation
 * without a paid plan: else one address would get any number of free ones. An operator's power approves it
 * always, because an operator may approve any organisation.
 *
 * @returns whether it awaits approval.
 * @throws AppError UNAUTHENTICATED; AWAITING_APPROVAL; FORBIDDEN if the account was closed;
 *   CONFLICT if another organisation of the user awaits approval; VALIDATION for an unusable name.
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
    await requireExistingSession(tx, principal);
    const owned = await ownedBy(tx, user.id);
    if (owned.some(({ approval }) => approval === 'pending')) {
      throw new AppError('CONFLICT', message('other_organisation_awaits_approval'));
    }
    if (account.accountStatus !== 'active') {
      throw new AppError('AWAITING_APPROVAL', message('account_awaits_approval'));
    }

    const now = app.now();
    const organisationId = await createOrganisation(tx, now, { ownerId: user.id, name, email: account.user.email });
    await tx.update(users).set({ invitedOnly: false }).where(eq(users.id, user.id));
    await recordAudit(tx, now, {
      action: 'organisation-created',
      actorId: user.id,
      userId: user.id,
      organisationId,
      client,
    });
    await recordJoined(tx, now, { organisationId, userId: user.id });

    // The mark as it is now, and the power as the session has it.
    const operates = account.user.operator && principal.operates;
    const approved = await approveAtOnce(app, tx, { account, operates, organisationId, owned, client });
    if (approved || account.organisationId === null) {
      await chooseOrganisation(tx, { userId: user.id, sessionId, organisationId });
    }
    return { awaiting_approval: !approved };
  });
}

async function approveAtOnce(
  app: App,
  tx: Transaction,
  { account, operates, organisationId, owned, client }: NewOrganisation,
): Promise<boolean> {
  const { id: actorId, email } = account.user;
  if (operates) {
    const decision = { organisationIds: [organisationId], ownerId: actorId, actorId, client, now: app.now() };
    return (await approveByRule(tx, decision)).length > 0;
  }
  const allPaid = owned.every(({ plan }) => currentPlan(app, plan).tier !== app.plans.tiers[0].tier);
  return allPaid && approveByAddress(app, tx, { organisationId, ownerId: actorId, email, client });
}

type NewOrganisation = {
  account: Account;
  /** Whether the user has the power of an operator. */
  operates: boolean;
  organisationId: string;
  /** The other organisations that the user owns. */
  owned: Awaited<ReturnType<typeof ownedBy>>;
  client: Client;
};

function ownedBy(tx: Transaction, userId: string) {
  return tx
    .select({ approval: organisations.approval, plan: organisationPlans })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, organisations.id))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner')));
}
