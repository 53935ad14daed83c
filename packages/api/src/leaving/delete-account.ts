import { and, eq, inArray, ne } from 'drizzle-orm';
import { z } from 'zod';
import { confirmUser } from '../accounts/password/confirm-user.ts';
import { lockUser } from '../accounts/profile/lock-user.ts';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { endSubscriptions, hasOpenCheckout } from '../billing/actions/end-subscriptions.ts';
import { readPlan } from '../billing/entitlement/read-plan.ts';
import type { Executor, Transaction } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { AppError } from '../errors.ts';
import type { Client } from '../security/client.ts';
import type { UserPrincipal } from '../sessions/principal.ts';

export const deleteAccountInput = z.object({
  /** Required if the account has a password. Otherwise a recent sign-in is required. */
  password: z.string({ error: 'Enter your password.' }).optional(),
  /** The organisations that the page said would be deleted. If they are given, no other one is deleted. */
  organisation_ids: z.array(z.string(), 'These are not organisations.').optional(),
});

/**
 * Returns what deleting the account would also delete. Allowed while the account awaits approval.
 */
export async function readDeletion(app: App, principal: UserPrincipal) {
  const { user } = principal;
  const owned = await ownedAlone(app.db, user.id);

  const ends = await Promise.all(
    owned.map(async ({ id, name, slug, others }) => {
      const { tier, plan } = await readPlan(app, id);
      return { organisation: { id, name, slug }, tier, tier_name: plan.name, has_members: others > 0 };
    }),
  );
  return { ends, blocked: ends.some((end) => end.has_members) };
}

/**
 * Deletes a user's account, and the organisations that the user alone owns. Their subscriptions are
 * ended at the provider first: while the provider does not answer, nothing is deleted. Allowed while
 * the account awaits approval.
 *
 * @throws AppError UNAUTHENTICATED or FORBIDDEN if the user is not confirmed; TOO_MANY; VALIDATION
 *   if an organisation that only this user owns has other members; NOT_FOUND if an organisation
 *   would be deleted that the page did not show; BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or BUSY
 *   if a subscription cannot be ended; BUSY if the organisations changed meanwhile.
 */
export async function deleteAccount(
  app: App,
  principal: UserPrincipal,
  { password, organisation_ids: shown }: z.output<typeof deleteAccountInput>,
  client: Client,
): Promise<void> {
  refuseUnshown(await ownedAlone(app.db, principal.user.id), shown);
  await confirmUser(app, principal, password, client);
  const ending = await endable(app.db, principal.user.id, shown);
  for (const id of ending) await endSubscriptions(app, id);

  await app.db.transaction(async (tx) => {
    await lockUser(tx, principal.user.id);
    await lockOwned(tx, principal.user.id);
    const still = await endable(tx, principal.user.id);
    if (still.some((id) => !ending.includes(id))) throw changed();

    for (const organisationId of still) {
      // A member has started a checkout meanwhile.
      if (app.payment !== null && (await hasOpenCheckout(tx, organisationId))) throw changed();
    }
    // The user first: the feed of changes tells of the user before the organisations.
    const deleted = await tx.delete(users).where(eq(users.id, principal.user.id)).returning({ id: users.id });
    if (deleted.length === 0) throw new AppError('UNAUTHENTICATED', 'Sign in first.');
    await recordAudit(tx, app.now(), {
      action: 'account-deleted',
      actorId: principal.user.id,
      userId: principal.user.id,
      client,
    });
    for (const organisationId of still) {
      await tx.delete(organisations).where(eq(organisations.id, organisationId));
      await recordAudit(tx, app.now(), {
        action: 'organisation-deleted',
        actorId: principal.user.id,
        organisationId,
        client,
      });
    }
  });
}

/**
 * Locks the organisations that the user owns. A concurrent join waits and then finds no
 * organisation; a membership that was committed before is counted. Another owner who leaves waits
 * too, so that one of the two stays.
 */
async function lockOwned(tx: Transaction, userId: string): Promise<void> {
  const owned = tx
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner')));
  await tx
    .select({ id: organisations.id })
    .from(organisations)
    .where(inArray(organisations.id, owned))
    .orderBy(organisations.id)
    .for('update');
}

async function endable(db: Executor, userId: string, shown?: string[]): Promise<string[]> {
  const owned = await ownedAlone(db, userId);
  refuseUnshown(owned, shown);
  const needed = owned.find(({ others }) => others > 0);
  if (needed !== undefined) {
    const name = needed.name ?? needed.slug;
    throw new AppError('VALIDATION', `${name} has other members. Make one of them an owner first.`);
  }
  return owned.map(({ id }) => id);
}

function refuseUnshown(owned: { id: string }[], shown: string[] | undefined): void {
  if (shown !== undefined && owned.some(({ id }) => !shown.includes(id))) {
    throw new AppError('NOT_FOUND', 'What ends with your account has changed. Load the page again.');
  }
}

function changed(): AppError {
  return new AppError('BUSY', 'Your organisations changed meanwhile. Try again.', { retryAfterSeconds: 1 });
}

/** Returns the organisations whose only active owner is this user, with the number of other members. */
async function ownedAlone(db: Executor, userId: string) {
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
