import { and, eq, gt, inArray, isNotNull, isNull, notInArray, or, type Placeholder, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { type Actor, recordAudit } from '../audit/record.ts';
import type { Executor, Transaction } from '../platform/db/client.ts';
import { oneTimeTokens } from '../platform/db/schema/accounts.ts';
import { apiKeys } from '../platform/db/schema/keys.ts';
import { invitations, memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { nameColumns } from './account-status.ts';

/** The field by which somebody else than the maker keeps the API keys that would be revoked. */
export const keepKeysField = z.boolean().optional();
/** The field by which the maker revokes the API keys that would stay. */
export const revokeKeysField = z.boolean().optional();

/**
 * Whose, and which part of their authority ends: all of it, in an organisation that they no longer administer, or the
 * mark of an operator.
 */
type Ending = { userId: string; of: 'everything' | { organisationId: string } | 'operator' };

/** What of it happens to the keys, and who decides that: a kept key belongs to them. */
type KeysDecision = { keys: 'revoke' | 'keep'; actor: Actor };

/** What ended, for the page that says so. */
export type Ended = { keys: string[]; invitations: number; links: number };

/**
 * Ends what a user started by an authority that ends (design.md 3.11): unused invitations, password links made for
 * others and API keys. Every way that ends authority calls it, after the sessions that ended with it, so that nothing
 * made concurrently is left.
 */
export async function endStarted(
  tx: Transaction,
  now: Date,
  { userId, of, keys, actor }: Ending & KeysDecision,
): Promise<Ended> {
  const ending = { userId, of };
  return {
    invitations: await endInvitations(tx, now, ending),
    links: await endPasswordLinks(tx, now, ending),
    keys: await endKeys(tx, now, ending, { keys, actor }),
  };
}

/** Returns what would end with a user's authority, for the page that says so before. */
export async function readStarted(db: Executor, now: Date, ending: Ending) {
  const keys = await db
    .select({
      id: apiKeys.id,
      name: apiKeys.name,
      organisation: nameColumns,
    })
    .from(apiKeys)
    .leftJoin(organisations, eq(organisations.id, apiKeys.organisationId))
    .where(and(keysOf(db, ending), isValidKey(now)))
    .orderBy(apiKeys.createdAt);
  return {
    keys,
    invitations: await db.$count(invitations, and(invitationsOf(ending), gt(invitations.expiresAt, now))),
    links: await db.$count(oneTimeTokens, and(passwordLinksOf(ending), gt(oneTimeTokens.expiresAt, now))),
  };
}

/** Deletes the unused invitations of a user. Returns how many of them were valid. */
async function endInvitations(tx: Transaction, now: Date, ending: Ending): Promise<number> {
  const ended = await tx
    .delete(invitations)
    .where(invitationsOf(ending))
    .returning({ expiresAt: invitations.expiresAt });
  return ended.filter(({ expiresAt }) => expiresAt > now).length;
}

/** Deletes the password links that a user made for others. Returns how many of them were valid. */
async function endPasswordLinks(tx: Transaction, now: Date, ending: Ending): Promise<number> {
  const ended = await tx
    .delete(oneTimeTokens)
    .where(passwordLinksOf(ending))
    .returning({ expiresAt: oneTimeTokens.expiresAt });
  return ended.filter(({ expiresAt }) => expiresAt > now).length;
}

/** Revokes the valid API keys of a user, or makes them those of the user who kept them. Returns the revoked ones' names. */
async function endKeys(tx: Transaction, now: Date, ending: Ending, { keys, actor }: KeysDecision): Promise<string[]> {
  const theirs = and(keysOf(tx, ending), isValidKey(now));
  if (keys === 'keep') {
    if (actor.actorId !== ending.userId) await tx.update(apiKeys).set({ createdBy: actor.actorId }).where(theirs);
    return [];
  }

  const revoked = await tx
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(theirs)
    .returning({ id: apiKeys.id, name: apiKeys.name, organisationId: apiKeys.organisationId });
  await endMadeByKeys(
    tx,
    revoked.map(({ id }) => id),
  );
  const by: Record<string, string> = isOperator(actor, ending) ? { by: 'operator' } : {};
  for (const { name, organisationId } of revoked) {
    const entry = { action: 'api-key-revoked', ...actor, organisationId, details: { name, ...by } } as const;
    await recordAudit(tx, now, entry);
  }
  return revoked.map(({ name }) => name);
}

/** Whether an operator acts: nobody else ends another user's whole authority, or the mark of an operator. */
function isOperator({ actorId }: Actor, { userId, of }: Ending): boolean {
  return typeof of === 'string' && actorId !== null && actorId !== userId;
}

/** Ends the unused invitations and password links that keys made, which are revoked. */
export async function endMadeByKeys(tx: Transaction, keyIds: string[]): Promise<void> {
  if (keyIds.length === 0) return;
  await tx.delete(invitations).where(inArray(invitations.keyId, keyIds));
  await tx.delete(oneTimeTokens).where(inArray(oneTimeTokens.createdBy, keyIds));
}

function invitationsOf({ userId, of }: Ending): SQL | undefined {
  if (of === 'operator') return isNull(invitations.id);
  const inOrganisation = of === 'everything' ? undefined : eq(invitations.organisationId, of.organisationId);
  return and(eq(invitations.createdBy, userId), inOrganisation);
}

function passwordLinksOf({ userId, of }: Ending): SQL | undefined {
  if (typeof of === 'object') return isNull(oneTimeTokens.tokenHash);
  return and(eq(oneTimeTokens.createdBy, userId), eq(oneTimeTokens.purpose, 'password-link'));
}

/** The keys that an operator made or kept belong to the deployment, or to organisations that the user does not administer. */
function keysOf(db: Executor, { userId, of }: Ending): SQL | undefined {
  const theirs = eq(apiKeys.createdBy, userId);
  if (of === 'everything') return theirs;
  if (of !== 'operator') return and(theirs, eq(apiKeys.organisationId, of.organisationId));

  const administered = db
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(and(eq(memberships.userId, userId), inArray(memberships.role, ['owner', 'admin'])));
  const elsewhere = and(isNotNull(apiKeys.organisationId), notInArray(apiKeys.organisationId, administered));
  return and(theirs, or(isNull(apiKeys.organisationId), elsewhere));
}

/**
 * The condition for API keys that are valid at a time: neither revoked nor expired. The approval of a key's organisation
 * is no part of it: a key of a closed organisation is known, and gets another error.
 */
export function isValidKey(now: Date | Placeholder): SQL | undefined {
  return and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)));
}
