import { and, eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { approveOrganisations, declineOrganisations } from '../organisations/approve.ts';
import type { Transaction } from '../platform/db/client.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { AppError } from '../platform/errors.ts';
import type { Actor } from './actor.ts';
import { createMissingOrganisations } from './create-missing-organisations.ts';
import { readUser } from './find-accounts.ts';

type OwnerDecision = {
  /** Of all organisations that the user owns. */
  slugs: string[];
  /** How many organisations the decision changed. */
  changed: number;
};

/**
 * Opens the approval gate of all organisations that a user owns. Only this ends a decline.
 *
 * @throws AppError NOT_FOUND if the user owns none; VALIDATION if one of them is suspended.
 */
export function approveOwner(app: App, { userId }: { userId: string }, actor: Actor): Promise<OwnerDecision> {
  return app.db.transaction(async (tx) => {
    const owned = await requireOwned(app, tx, userId);
    const suspended = owned.filter(({ suspendedAt }) => suspendedAt !== null).map(({ slug }) => slug);
    if (suspended.length > 0) {
      throw new AppError('VALIDATION', `${suspended.join(', ')} is suspended: restore-organisation opens it again.`);
    }

    const organisationIds = owned.map(({ id }) => id);
    const changed = await approveOrganisations(tx, { ...actor, now: app.now(), organisationIds });
    return { slugs: owned.map(({ slug }) => slug), changed: changed.length };
  });
}

/**
 * Closes those of a user's organisations that wait for approval, with a reason that only operators see.
 *
 * @throws AppError NOT_FOUND if the user owns none; VALIDATION if none of them waits.
 */
export function declineOwner(
  app: App,
  { userId, reason }: { userId: string; reason: string },
  actor: Actor,
): Promise<OwnerDecision> {
  return app.db.transaction(async (tx) => {
    const owned = await requireOwned(app, tx, userId);
    const slugs = owned.map(({ slug }) => slug);

    const organisationIds = owned.map(({ id }) => id);
    const changed = await declineOrganisations(tx, { ...actor, now: app.now(), organisationIds, reason });
    if (changed.length === 0) throw new AppError('VALIDATION', `${slugs.join(', ')} is not waiting for a decision.`);
    return { slugs, changed: changed.length };
  });
}

async function requireOwned(app: App, tx: Transaction, userId: string) {
  const { email } = await readUser(tx, userId);
  const owned = await ownedOrganisations(app, tx, userId);
  if (owned.length === 0) throw new AppError('NOT_FOUND', `${email} owns no organisation.`);
  return owned;
}

/** Returns the organisations that a user owns. A user who awaits approval without one is given one first. */
export async function ownedOrganisations(app: App, tx: Transaction, userId: string) {
  await createMissingOrganisations(tx, app.now(), [userId]);
  return tx
    .select({ id: organisations.id, slug: organisations.slug, suspendedAt: organisations.suspendedAt })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner')));
}
