import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { endSubscriptions } from '../../billing/actions/end-subscriptions.ts';
import { recordDeletedUser } from '../../changes/record-change.ts';
import { endStarted } from '../../organisations/started.ts';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import type { Client } from '../../platform/security/client.ts';
import { removeOrganisation } from './delete-organisation.ts';
import { eraseTracesOfUser } from './erase-traces.ts';
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
  /** Whether the API keys that the user made stay, as those of the actor. */
  keepKeys?: boolean;
  /** Called before anything ends, and again under the locks. */
  isStillWanted?: (db: Executor) => Promise<boolean>;
};

/**
 * Deletes a user's account with all that is stored about the user, and the organisations that the user alone owns, whose
 * subscriptions end at the provider first: while the provider does not answer, nothing is deleted. docs/privacy.md lists
 * what stays. Returns the slugs of the deleted organisations, or null if there is no such user.
 *
 * @throws AppError VALIDATION if such an organisation has other members, unless `withMembers`;
 *   NOT_FOUND if one was not shown; BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or BUSY if a
 *   subscription cannot be ended; BUSY if the organisations changed meanwhile.
 */
export async function eraseUser(
  app: App,
  { userId }: { userId: string },
  { actorId, client, keepKeys = false, isStillWanted = async () => true, ...which }: Options,
): Promise<{ slugs: string[] } | null> {
  const ending = await organisationsEndingWith(app.db, userId, which);
  if (!(await isStillWanted(app.db))) throw organisationsChanged();
  for (const id of ending) await endSubscriptions(app, id);
  // Whoever deletes their own account leaves no trace of the browser.
  const actor = { actorId, client: actorId === userId ? undefined : client };

  const erased = await app.db.transaction(async (tx) => {
    const user = await lockForDeletion(tx, { ending, userId });
    if (user === null) return null;
    if (!(await isStillWanted(tx))) throw organisationsChanged();
    const still = await organisationsEndingWith(tx, userId, which);
    if (still.some((id) => !ending.includes(id))) throw organisationsChanged();

    await recordDeletedUser(tx, app.now(), userId);
    await recordAudit(tx, app.now(), { action: 'account-deleted', ...actor, userId });
    const slugs: string[] = [];
    for (const organisationId of still) slugs.push(...(await removeOrganisation(app, tx, organisationId, actor)));
    const keys = keepKeys ? 'keep' : 'revoke';
    await endStarted(tx, app.now(), { userId, of: 'everything', keys, actor });
    await eraseTracesOfUser(app, tx, { userId, email: user.email });
    await tx.delete(users).where(eq(users.id, userId));
    return { slugs };
  });
  app.jobs.wake('payment-contact');
  return erased;
}
