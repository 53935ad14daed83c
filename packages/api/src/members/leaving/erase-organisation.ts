import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { endSubscriptions, mayBeBilled } from '../../billing/actions/end-subscriptions.ts';
import { recordChange } from '../../changes/record-change.ts';
import type { Executor } from '../../platform/db/client.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { requestErasure } from './erasures/request-erasure.ts';
import { lockForDeletion, organisationsChanged } from './lock-for-deletion.ts';

/**
 * Deletes an organisation by a rule, with all that is stored about it, and ends its subscriptions
 * first. The members' accounts stay. Does nothing if there is none. `isStillWanted` is called before anything
 * ends, and again under the organisation's lock.
 *
 * @throws AppError BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or BUSY if a subscription cannot be ended; BUSY if the
 *   organisation changed meanwhile.
 */
export async function eraseOrganisation(
  app: App,
  organisationId: string,
  isStillWanted: (db: Executor) => Promise<boolean> = async () => true,
): Promise<void> {
  if ((await app.db.$count(organisations, eq(organisations.id, organisationId))) === 0) return;
  if (!(await isStillWanted(app.db))) throw organisationsChanged();
  await endSubscriptions(app, organisationId);

  await app.db.transaction(async (tx) => {
    await lockForDeletion(tx, { ending: [organisationId] });
    if (!(await isStillWanted(tx))) throw organisationsChanged();
    if (await mayBeBilled(app, tx, organisationId)) throw organisationsChanged();
    await recordChange(tx, app.now(), { type: 'organisation.deleted', organisationId });
    await tx.delete(organisations).where(eq(organisations.id, organisationId));
    await recordAudit(tx, app.now(), { action: 'organisation-deleted', organisationId });
    await requestErasure(app, tx, { deleted: [organisationId] });
  });
  app.jobs.wake('erasure');
}
