import { and, eq, ne } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type Actor, recordAudit } from '../../audit/record.ts';
import { endSubscriptions, requireEndable } from '../../billing/actions/end-subscriptions.ts';
import { recordDeletedUser } from '../../changes/record-change.ts';
import { endStarted } from '../../organisations/started.ts';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { lockForDeletion, organisationsChanged, removeOrganisation } from './delete-organisation.ts';
import { eraseTracesOfUser } from './erase-traces.ts';

export type EraseOptions = Actor & {
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
  { actorId, keyId, client, keepKeys = false, isStillWanted = async () => true, ...which }: EraseOptions,
): Promise<{ slugs: string[] } | null> {
  const ending = await organisationsEndingWith(app.db, userId, which);
  if (!(await isStillWanted(app.db))) throw organisationsChanged();
  // An end cannot be undone, so nothing ends unless everything can.
  if (ending.length > 1) for (const id of ending) await requireEndable(app, id);
  for (const id of ending) await endSubscriptions(app, id);
  // Whoever deletes their own account leaves no trace of the browser.
  const actor = { actorId, keyId, client: actorId === userId ? undefined : client };

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

/** Returns the organisations whose only active owner is this user, with the number of other members. */
export async function solelyOwned(db: Executor, userId: string) {
  const owned = await db
    .select({ id: organisations.id, name: organisations.name, slug: organisations.slug })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner')));

  const alone = [];
  for (const organisation of owned) {
    const others = await db
      .select({ role: memberships.role, suspendedAt: users.suspendedAt })
      .from(memberships)
      .innerJoin(users, eq(users.id, memberships.userId))
      .where(and(eq(memberships.organisationId, organisation.id), ne(memberships.userId, userId)));
    // A suspended owner does not count as an owner.
    if (others.some(({ role, suspendedAt }) => role === 'owner' && suspendedAt === null)) continue;
    alone.push({ ...organisation, others: others.length });
  }
  return alone;
}

type Ending = {
  /** Whether organisations with other members end too. */
  withMembers?: boolean;
  /** The organisations that a page showed: no other one may end. */
  shown?: string[] | undefined;
};

/**
 * Returns the organisations that end with the user's account.
 *
 * @throws AppError VALIDATION if one of them has other members, unless `withMembers`; NOT_FOUND if
 *   one of them was not shown.
 */
export async function organisationsEndingWith(
  db: Executor,
  userId: string,
  { withMembers = false, shown }: Ending = {},
): Promise<string[]> {
  const owned = await solelyOwned(db, userId);
  if (shown !== undefined && owned.some(({ id }) => !shown.includes(id))) {
    throw new AppError('NOT_FOUND', message('account_facts_changed'));
  }
  const needed = owned.find(({ others }) => others > 0);
  if (needed !== undefined && !withMembers) {
    const name = needed.name ?? needed.slug;
    throw new AppError('VALIDATION', message('organisation_has_members', { organisation: name }));
  }
  return owned.map(({ id }) => id);
}
