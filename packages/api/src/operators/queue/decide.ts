import { and, eq, inArray, isNotNull, notExists } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { recordJoined } from '../../changes/record-change.ts';
import {
  approveDeclined,
  approveOrganisations,
  approvePending,
  declineOrganisations,
} from '../../organisations/approve.ts';
import { createOrganisation } from '../../organisations/organisation.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { freeLine } from '../../platform/security/text.ts';
import { type Actor, shownTime } from '../actor.ts';
import { readUser } from '../find-accounts.ts';

const organisationIds = z
  .array(z.uuid(zodMessage('choose_from_list')), { error: zodMessage('choose_an_organisation_at_least') })
  .min(1, zodMessage('choose_an_organisation_at_least'))
  .max(200, zodMessage('too_many_organisations_chosen'));

/** Only operators see it, with the decision. */
export const declineReason = freeLine(300)
  .optional()
  .transform((reason) => reason || 'No reason was given.');

export const approveInput = z.object({
  organisation_ids: organisationIds,
  /** The decline that the approval ends: a page that showed none, or an earlier one, ends no decline. */
  declined_at: shownTime.optional(),
});
export const declineInput = z.object({
  organisation_ids: organisationIds,
  reason: declineReason,
});

/**
 * Opens the approval gate of organisations that await approval, or with `declined_at` of those that were declined then;
 * suspended ones do not change. The id of a user without an organisation, as the queue lists it, creates the user's
 * organisation first. Returns those that were approved: about the others, another operator had decided before.
 */
export async function approve(app: App, principal: Operator, input: z.output<typeof approveInput>, client: Client) {
  const { user } = principal;
  const { declined_at: declinedAt } = input;

  return app.db.transaction(async (tx) => {
    const now = app.now();
    const organisationIds = await createMissingOrganisations(tx, now, input.organisation_ids);
    const decision = { organisationIds, actorId: user.id, client, now };
    return named(
      tx,
      declinedAt ? await approveDeclined(tx, { ...decision, declinedAt }) : await approvePending(tx, decision),
      now,
    );
  });
}

/**
 * Closes organisations that await approval, and ends the sessions of their members. Takes the
 * same ids as `approve`. Returns those that were declined.
 */
export async function decline(app: App, principal: Operator, input: z.output<typeof declineInput>, client: Client) {
  const { user } = principal;

  return app.db.transaction(async (tx) => {
    const now = app.now();
    const organisationIds = await createMissingOrganisations(tx, now, input.organisation_ids);
    const decision = { organisationIds, actorId: user.id, client, now, reason: input.reason };
    return named(tx, await declineOrganisations(tx, decision), now);
  });
}

/** Returns how many organisations a decision changed, and the first of them with the time of the decision. */
async function named(tx: Transaction, ids: string[], now: Date) {
  const [first] = await tx
    .select({ id: organisations.id, name: organisations.name, slug: organisations.slug })
    .from(organisations)
    .where(inArray(organisations.id, ids.slice(0, 1)));
  if (first === undefined) return { changed: 0, first: null };
  const { id, name, slug } = first;
  return { changed: ids.length, first: { id, name: name ?? slug, decided_at: now.toISOString() } };
}

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
    return { slugs: slugsOf(changed.length > 0 ? changed : organisationIds, owned), changed: changed.length };
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
    return { slugs: slugsOf(changed, owned), changed: changed.length };
  });
}

/** The slugs of the organisations that a decision names. */
function slugsOf(named: string[], owned: { id: string; slug: string }[]): string[] {
  return owned.filter(({ id }) => named.includes(id)).map(({ slug }) => slug);
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

/** The condition for users who signed up with an invitation and joined no organisation: each awaits approval alone. */
export function invitedWithoutOrganisation(db: Executor) {
  return and(
    eq(users.invitedOnly, true),
    isNotNull(users.emailVerifiedAt),
    notExists(db.select({ id: memberships.userId }).from(memberships).where(eq(memberships.userId, users.id))),
  );
}

/**
 * Creates an organisation for each of these users who joined none, because approval belongs to
 * organisations. Returns the ids with those of the users replaced by those of their new
 * organisations; all other ids stay as they are.
 */
async function createMissingOrganisations(tx: Transaction, now: Date, ids: string[]): Promise<string[]> {
  const waiting = await tx
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(and(inArray(users.id, ids), invitedWithoutOrganisation(tx)))
    .orderBy(users.id)
    .for('update');

  const made = new Map<string, string>();
  for (const { id, email } of waiting) {
    const organisationId = await createOrganisation(tx, now, { ownerId: id, name: null, email });
    made.set(id, organisationId);
    await tx.update(users).set({ invitedOnly: false }).where(eq(users.id, id));
    await recordJoined(tx, now, { organisationId, userId: id });
  }
  return ids.map((id) => made.get(id) ?? id);
}
