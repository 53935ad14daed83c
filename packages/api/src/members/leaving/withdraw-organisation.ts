import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Approved } from '../../auth/principal.ts';
import { organisationField } from '../../auth/sessions/require-same-organisation.ts';
import { requireExistingSession } from '../../auth/sessions/session.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { lockForDeletion, removeOrganisation } from './delete-organisation.ts';

export const withdrawInput = z.object({ organisation_id: organisationField });

/**
 * Deletes an organisation that its owner created beside an approved one, while it awaits approval: nobody can act for
 * it, so nothing of worth is lost and no password is asked. One that was declined stays, for the operators. Of a
 * withdrawal and a decision at the same time, the second one finds nothing to change.
 *
 * @throws AppError NOT_FOUND if the principal owns no such organisation, or it does not await approval; BUSY if its
 *   members changed meanwhile, or it has a customer at the payment provider who may be charged.
 */
export async function withdrawOrganisation(
  app: App,
  principal: Approved,
  { organisation_id: organisationId }: z.output<typeof withdrawInput>,
  client: Client,
): Promise<void> {
  const { id: userId } = principal.user;

  await app.db.transaction(async (tx) => {
    await lockForDeletion(tx, { ending: [organisationId] });
    await requireExistingSession(tx, principal);
    const [own] = await tx
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
    await removeOrganisation(app, tx, organisationId, { actorId: userId, client });
  });
}
