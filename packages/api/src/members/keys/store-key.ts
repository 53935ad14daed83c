import { and, eq, isNull, lt, or } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { type Actor, recordAudit } from '../../audit/record.ts';
import { hintOf, newKey, scopesOfKey } from '../../auth/key-format.ts';
import { endMadeByKeys } from '../../organisations/started.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { oneLine } from '../../platform/security/text.ts';
import { hashToken } from '../../platform/security/token.ts';

const maxDays = 3650;
const wholeDays = zodMessage('days_invalid', { maximum: maxDays });

/** What every new key needs. `expires_in_days` is absent for a key that does not expire. */
export const newKeyInput = z.object({
  name: oneLine(100).refine((name) => name !== '', zodMessage('enter_name')),
  scope: z.enum(['READ', 'WRITE'], zodMessage('scope_invalid')).default('READ'),
  expires_in_days: z.int(wholeDays).min(1, wholeDays).max(maxDays, wholeDays).nullish(),
});

const maxDaysOfManaging = 400;
const managingDays = 90;
const daysOfManaging = zodMessage('days_invalid', { maximum: maxDaysOfManaging });

/**
 * What a new key of an operator needs. One with MANAGE belongs to the deployment, and expires: after 90 days, unless the
 * input says otherwise.
 */
export const operatorsKeyInput = newKeyInput
  .extend({ scope: z.enum(['READ', 'WRITE', 'MANAGE'], zodMessage('operators_scope_invalid')).default('READ') })
  .refine(({ scope, expires_in_days: days }) => scope !== 'MANAGE' || (days ?? 0) <= maxDaysOfManaging, {
    error: daysOfManaging,
    path: ['expires_in_days'],
  })
  .transform((input) =>
    input.scope === 'MANAGE' ? { ...input, expires_in_days: input.expires_in_days ?? managingDays } : input,
  );

/** `passwordLinks`: whether a key with MANAGE may make password links. */
type NewKey = z.output<typeof operatorsKeyInput> & { passwordLinks?: boolean };

export type KeyOwner = { organisationId: string | null };

/** Whether an operator makes the key, not an administrator of its organisation. */
type Making = { byOperator?: boolean };

/** A key with its text, which is shown once. */
export type CreatedKey = { id: string; key: string; name: string; scopes: string[]; expires_at: string | null };

/** Creates a key and records who did. Only the answer holds the key: its hash is stored. */
export async function storeKey(
  app: App,
  tx: Transaction,
  { organisationId }: KeyOwner,
  { name, scope, expires_in_days: days, passwordLinks = false }: NewKey,
  actor: Actor,
  { byOperator = false }: Making = {},
): Promise<CreatedKey> {
  const now = app.now();
  const id = newId(now);
  const key = newKey(app.config);
  const expiresAt = days == null ? null : new Date(now.getTime() + days * dayMilliseconds);

  await tx.insert(apiKeys).values({
    id,
    organisationId,
    name,
    hash: hashToken(key),
    hint: hintOf(key),
    scope,
    passwordLinks,
    byOperator,
    createdBy: actor.actorId,
    createdAt: now,
    expiresAt,
  });
  await recordAudit(tx, now, { action: 'api-key-created', ...actor, organisationId, details: { name, scope } });
  return { id, key, name, scopes: scopesOfKey(scope), expires_at: expiresAt?.toISOString() ?? null };
}

/**
 * Revokes a key, from the next request on, and records who did. The unused invitations and password links that it made
 * end.
 *
 * @throws AppError NOT_FOUND if the owner has no such key, or it is revoked already.
 */
export async function revokeStoredKey(
  app: App,
  tx: Transaction,
  { organisationId, id }: Partial<KeyOwner> & { id: string },
  actor: Actor,
): Promise<void> {
  const [revoked] = await tx
    .update(apiKeys)
    .set({ revokedAt: app.now() })
    .where(and(eq(apiKeys.id, id), ownedBy(organisationId), isNull(apiKeys.revokedAt)))
    .returning({ name: apiKeys.name, organisationId: apiKeys.organisationId });
  if (revoked === undefined) throw new AppError('NOT_FOUND', message('no_such_key'));
  await endMadeByKeys(tx, [id]);

  const { name } = revoked;
  const details = { action: 'api-key-revoked', organisationId: revoked.organisationId, details: { name } } as const;
  await recordAudit(tx, app.now(), { ...details, ...actor });
}

const keptDays = 30;

/** Returns the time before which a key that ended is no longer kept. */
export function endedKeyCutoff(now: Date): Date {
  return new Date(now.getTime() - keptDays * dayMilliseconds);
}

/** Deletes keys that were revoked or expired more than 30 days ago. The audit log keeps their history. */
export async function deleteOldKeys(app: App): Promise<void> {
  const cutoff = endedKeyCutoff(app.now());
  await app.db.delete(apiKeys).where(or(lt(apiKeys.revokedAt, cutoff), lt(apiKeys.expiresAt, cutoff)));
}

/** The condition for the keys of an organisation, or of the deployment (null), or of all owners (undefined). */
export function ownedBy(organisationId: string | null | undefined) {
  if (organisationId === undefined) return undefined;
  return organisationId === null ? isNull(apiKeys.organisationId) : eq(apiKeys.organisationId, organisationId);
}
