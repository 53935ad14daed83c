import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { endSubscriptions, mayBeBilled } from '../../billing/actions/end-subscriptions.ts';
import { recordChange, recordDeletedUser } from '../../changes/record-change.ts';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import type { Client } from '../../platform/security/client.ts';
import { dropMailsOf, readIdentifiers, requestErasure } from './erasures/request-erasure.ts';
import { lockForDeletion, organisationsChanged } from './lock-for-deletion.ts';
import { organisationsEndingWith } from './sole-owner.ts';

type Options = {
  /** Who erases: the user, an operator, or null for an admin command and a rule. */
  actorId: string | null;
  client?: Client | undefined;
  /** Whether organisations that the user alone owns are deleted although they have other members. */
  withMembers?: boolean;
  /** The organisations that a page showed: no other one is deleted. */
  shown?: string[] | undefined;
  /** Called before anything ends, and again under the locks. */
  isStillWanted?: (db: Executor) => Promise<boolean>;
};

/**
 * Deletes a user's account, and the organisations that the user alone owns, whose subscriptions end
 * at the provider first: while the provider does not answer, nothing is deleted. The job `erasure` follows;
 * after it no table contains the user's address or name. docs/privacy.md lists what stays. Returns the slugs of the
 * deleted organisations and the id of the erasure that follows, or null if there is no such user.
 *
 * @throws AppError VALIDATION if such an organisation has other members, unless `withMembers`;
 *   NOT_FOUND if one was not shown; BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or BUSY if a
 *   subscription cannot be ended; BUSY if the organisations changed meanwhile.
 */
export async function eraseUser(
  app: App,
  { userId }: { userId: string },
  { actorId, client, isStillWanted = async () => true, ...which }: Options,
): Promise<{ slugs: string[]; erasureId: string } | null> {
  const ending = await organisationsEndingWith(app.db, userId, which);
  if (!(await isStillWanted(app.db))) throw organisationsChanged();
  for (const id of ending) await endSubscriptions(app, id);

  const erased = await app.db.transaction(async (tx) => {
    await lockForDeletion(tx, { ending, userId });
    if (!(await isStillWanted(tx))) throw organisationsChanged();
    const still = await organisationsEndingWith(tx, userId, which);
    if (still.some((id) => !ending.includes(id))) throw organisationsChanged();

    for (const organisationId of still) {
      // A member has started a checkout or paid for one meanwhile.
      if (await mayBeBilled(app, tx, organisationId)) throw organisationsChanged();
    }
    const identifiers = await readIdentifiers(tx, userId);
    if (identifiers === null) return null;
    await dropMailsOf(app, tx, identifiers);
    await recordDeletedUser(tx, app.now(), userId);
    for (const organisationId of still) {
      await recordChange(tx, app.now(), { type: 'organisation.deleted', organisationId });
    }
    await tx.delete(users).where(eq(users.id, userId));
    await recordAudit(tx, app.now(), { action: 'account-deleted', actorId, userId, client });

    const slugs: string[] = [];
    for (const organisationId of still) {
      const ended = await tx
        .delete(organisations)
        .where(eq(organisations.id, organisationId))
        .returning({ slug: organisations.slug });
      slugs.push(...ended.map(({ slug }) => slug));
      await recordAudit(tx, app.now(), { action: 'organisation-deleted', actorId, organisationId, client });
    }
    return { slugs, erasureId: await requestErasure(app, tx, { identifiers, deleted: still }) };
  });
  app.jobs.wake('erasure');
  return erased;
}
