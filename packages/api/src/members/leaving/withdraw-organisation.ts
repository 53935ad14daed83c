import { and, eq, inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { confirmation, confirmUser } from '../../auth/password/fresh-sign-in.ts';
import type { Approved } from '../../auth/principal.ts';
import { organisationField } from '../../auth/sessions/require-same-organisation.ts';
import { requireExistingSession } from '../../auth/sessions/session.ts';
import type { Executor } from '../../platform/db/client.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { lockForDeletion, removeOrganisation } from './delete-organisation.ts';

export const withdrawInput = z.object({ organisation_id: organisationField, ...confirmation });

/**
 * Deletes an organisation that its owner created beside an approved one, while it awaits approval. One that was never
 * approved and has no other members holds nothing of worth, so that no password is asked: nobody can act for it. Where
 * an approval was undone, the user is confirmed as before `deleteOrganisation`. One that was declined stays, for the
 * operators. Of a withdrawal and a decision at the same time, the second one finds nothing to change.
 *
 * @throws AppError NOT_FOUND if the principal owns no such organisation, or it does not await approval; BUSY if its
 *   members changed meanwhile, or it has a customer at the payment provider who may be charged; as `confirmUser`.
 */
export async function withdrawOrganisation(
  app: App,
  principal: Approved,
  { organisation_id: organisationId, ...confirming }: z.output<typeof withdrawInput>,
  client: Client,
): Promise<void> {
  const { id: userId } = principal.user;
  await requireOwnRequest(app.db, { userId, organisationId });
  if (await mayBeOfWorth(app.db, organisationId)) await confirmUser(app, principal, confirming, client);

  await app.db.transaction(async (tx) => {
    await lockForDeletion(tx, { ending: [organisationId] });
    await requireExistingSession(tx, principal);
    await requireOwnRequest(tx, { userId, organisationId });
    await removeOrganisation(app, tx, organisationId, { actorId: userId, client });
  });
}

type Own = { userId: string; organisationId: string };

/** @throws AppError NOT_FOUND unless the user owns the organisation, and it awaits approval. */
async function requireOwnRequest(db: Executor, { userId, organisationId }: Own): Promise<void> {
  const [own] = await db
    .select({ approval: organisations.approval, suspendedAt: organisations.suspendedAt })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(
      and(
        eq(memberships.userId, userId),
        eq(memberships.organisationId, organisationId),
        eq(memberships.role, 'owner'),
      ),
    );
  if (own?.approval !== 'pending' || own.suspendedAt !== null) {
    throw new AppError('NOT_FOUND', message('no_such_organisation'));
  }
}

/**
 * Whether an organisation that awaits approval was approved once, which its row no longer says after that was undone, or
 * has other members.
 */
async function mayBeOfWorth(db: Executor, organisationId: string): Promise<boolean> {
  if ((await db.$count(memberships, eq(memberships.organisationId, organisationId))) > 1) return true;
  // An import may have made it approved.
  const isApproval = inArray(auditEvents.action, ['organisation-approved', 'organisation-imported']);
  return (await db.$count(auditEvents, and(eq(auditEvents.organisationId, organisationId), isApproval))) > 0;
}
