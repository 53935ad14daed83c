import { and, eq, isNotNull, isNull, ne, notExists, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { recordChange, recordJoined } from '../../changes/record-change.ts';
import { createOrganisation, isKnownToProvider, renameOrganisation } from '../../organisations/organisation.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { signUps, users, type verificationLinks } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { oneLine } from '../../platform/security/text.ts';
import { hashToken } from '../../platform/security/token.ts';

type Provision = {
  userId: string;
  email: string;
  /** What the user who proved the address requested; null for a sign-up by invitation. */
  wanted: { name: string | null } | null;
};

/**
 * Gives an account whose address was just proved the organisation that its user requested, or
 * none: the one that an unproved sign-up requested gets that name. Organisations that an API key put the user into stay
 * as they are. Requests of sign-ups that were never proved have no effect. An account without an
 * organisation awaits approval until it joins one. If the e-mail gate opens with it, the caller opens it
 * afterwards and then tells other services (`recordJoined`): they learn about no earlier name.
 *
 * @returns the organisation's id, or null.
 */
export async function settleOrganisation(tx: Transaction, now: Date, provision: Provision): Promise<string | null> {
  const { userId } = provision;
  const organisationId = await createOrRename(tx, now, provision);
  await tx
    .update(users)
    // Whom an API key or an import made needs no approval of their own.
    .set({ invitedOnly: sql`${organisationId === null}::boolean and not ${users.provisioned}` })
    .where(eq(users.id, userId));
  return organisationId;
}

async function createOrRename(tx: Transaction, now: Date, { userId, email, wanted }: Provision) {
  const organisationId = await unprovenOrganisation(tx, userId);
  if (organisationId === null) {
    const [other] = await tx
      .select({ id: memberships.organisationId })
      .from(memberships)
      .where(eq(memberships.userId, userId))
      .limit(1);
    if (other !== undefined) return other.id;
    if (wanted === null) return null;
    const madeId = await createOrganisation(tx, now, { ownerId: userId, name: wanted.name, email });
    await recordJoined(tx, now, { organisationId: madeId, userId });
    return madeId;
  }
  if (wanted === null && (await deleteUnapproved(tx, now, organisationId))) return null;

  await renameOrganisation(tx, now, { id: organisationId, name: wanted?.name ?? null, email });
  return organisationId;
}

/**
 * Returns the organisation that came with a sign-up of a user whose address nobody has proved; null if there is none. What
 * the company made itself, and what has a member with a proved address, is not that.
 */
export async function unprovenOrganisation(tx: Transaction, userId: string): Promise<string | null> {
  const others = alias(memberships, 'others');
  const verified = tx
    .select({ id: users.id })
    .from(others)
    .innerJoin(users, eq(users.id, others.userId))
    .where(and(eq(others.organisationId, organisations.id), ne(users.id, userId), isNotNull(users.emailVerifiedAt)));
  const [own] = await tx
    .select({ id: organisations.id })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(
      and(
        eq(memberships.userId, userId),
        eq(memberships.role, 'owner'),
        eq(organisations.provisioned, false),
        notExists(verified),
      ),
    )
    .orderBy(memberships.createdAt, organisations.id)
    .limit(1);
  return own?.id ?? null;
}

/**
 * An unapproved organisation has no other members, because there are no invitations before approval. An operator may have
 * linked a customer of the payment provider to it: then it stays.
 */
async function deleteUnapproved(tx: Transaction, now: Date, organisationId: string): Promise<boolean> {
  const isUnapproved = and(eq(organisations.id, organisationId), isNull(organisations.approvedAt));
  const [found] = await tx.select({ id: organisations.id }).from(organisations).where(isUnapproved).for('update');
  if (found === undefined || (await isKnownToProvider(tx, organisationId))) return false;

  await recordChange(tx, now, { type: 'organisation.deleted', organisationId });
  await tx.delete(organisations).where(eq(organisations.id, organisationId));
  return true;
}

/** The schema of an organisation's name in a request body: at most 100 characters; empty and absent are null. */
export const organisationNameField = oneLine(100)
  .nullish()
  .transform((name) => name || null);

/** Returns the id of the organisation without a name that a user owns, or null. */
export async function unnamedOrganisation(tx: Transaction, userId: string): Promise<string | null> {
  const [own] = await tx
    .select({ id: organisations.id })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner'), isNull(organisations.name)))
    .orderBy(memberships.createdAt, organisations.id)
    .limit(1);
  return own?.id ?? null;
}

type Link = Pick<typeof verificationLinks.$inferSelect, 'signUpId'>;

/** Returns the pending sign-up that a link belongs to; null if it belongs to none, or the sign-up has ended. */
async function pendingSignUp(tx: Transaction, { signUpId }: Link) {
  if (signUpId === null) return null;
  const [signUp] = await tx
    .select()
    .from(signUps)
    .where(and(eq(signUps.id, signUpId), isNull(signUps.usedAt)));
  return signUp ?? null;
}

/** Returns the link's pending sign-up if the cookie is that of the browser that signed up, else null. */
export async function signUpOf(tx: Transaction, link: Link, browserToken: string | null) {
  const signUp = await pendingSignUp(tx, link);
  const isSameBrowser = signUp !== null && browserToken !== null && hashToken(browserToken) === signUp.browserHash;
  return isSameBrowser ? signUp : null;
}

/** Ends every pending sign-up of a user: what was typed there can no longer become valid. */
export async function endSignUps(tx: Transaction, userId: string, now: Date): Promise<void> {
  await tx
    .update(signUps)
    .set({ usedAt: now })
    .where(and(eq(signUps.userId, userId), isNull(signUps.usedAt)));
}
