import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { passkeys, recoveryCodes, totpSecrets } from '../../platform/db/schema/factors.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { encryptSecret } from '../../platform/security/encryption.ts';
import type { Approved } from '../principal.ts';
import { lockUser } from '../sessions/account.ts';
import { knownBrowserHash } from '../sessions/known-browser.ts';
import { deleteOtherSessions, requireExistingSession } from '../sessions/session.ts';
import { countWrongCodes, takeFirstTotp, wrongCode } from './check-code.ts';
import { readFactors, readPendingTotp, userHasFactor } from './has-factor.ts';
import { countRecoveryCodes, makeRecoveryCodes } from './recovery-codes.ts';
import { endTrust } from './step-attempt.ts';
import { newTotpSecret, totpPurpose, totpUri } from './totp.ts';
import { endFactorGrace, mustHaveFactor } from './who-must.ts';

/** Returns the second factors of a user. */
export async function listFactors(app: App, { user }: Approved) {
  const { passkeys: keys, totpSince, codesLeft } = await readFactors(app.db, user.id);
  return {
    passkeys: keys.map(({ id, name, createdAt, lastUsedAt, refusedAt }) => ({
      id,
      name,
      created_at: createdAt.toISOString(),
      last_used_at: lastUsedAt?.toISOString() ?? null,
      /** Whether its counter went back, so that it is refused. */
      refused: refusedAt !== null,
    })),
    totp: totpSince !== null,
    recovery_codes_left: codesLeft,
  };
}

/** So many wrong codes in a day are told. */
const manyWrongCodes = 20;
/** With so few recovery codes left their user is warned. */
const fewRecoveryCodes = 3;

/** Returns what home warns of: recovery codes that run out, and somebody who tries codes. Nothing without a factor. */
export async function readFactorWarnings(app: App, { user, hasFactor }: Approved) {
  if (!hasFactor) return { few_recovery_codes: false, many_wrong_codes: false };
  return {
    few_recovery_codes: (await countRecoveryCodes(app.db, user.id)) <= fewRecoveryCodes,
    many_wrong_codes: (await countWrongCodes(app, user.id)) >= manyWrongCodes,
  };
}

/**
 * Begins to set up an authenticator app: returns its secret in base32 and as the URI of a QR code. The one that the user
 * has stays until the new one is confirmed. The caller requires a fresh session.
 *
 * @throws AppError CONFLICT without SECRET_KEY: the secret would stand in the database as it is.
 */
export async function beginTotp(app: App, principal: Approved): Promise<{ secret: string; uri: string }> {
  const { user } = principal;
  const { secretKeys, service } = app.config;
  if (secretKeys.length === 0) throw new AppError('CONFLICT', message('no_authenticator_apps'));
  const secret = newTotpSecret();
  const { stored, encryptedBy } = encryptSecret(secretKeys, secret, totpPurpose(user.id));

  await app.db.transaction(async (tx) => {
    await lockUser(tx, user.id);
    await requireExistingSession(tx, principal);
    await tx.delete(totpSecrets).where(and(eq(totpSecrets.userId, user.id), isNull(totpSecrets.confirmedAt)));
    const now = app.now();
    await tx
      .insert(totpSecrets)
      .values({ id: newId(now), userId: user.id, secret: stored, encryptedBy, createdAt: now });
  });
  return { secret, uri: totpUri({ secret, issuer: service.name, account: user.email }) };
}

/** Returns the authenticator app that a user is setting up, as `beginTotp` did; null if there is none. */
export async function readTotpSetup(app: App, { user }: Approved) {
  const pending = await readPendingTotp(app, app.db, user.id);
  if (pending === null) return null;
  const { secret } = pending;
  return { secret, uri: totpUri({ secret, issuer: app.config.service.name, account: user.email }) };
}

export const confirmTotpInput = z.object({
  totp: z
    .string({ error: zodMessage('enter_app_code') })
    .trim()
    .min(1, zodMessage('enter_app_code'))
    .max(100, zodMessage('enter_app_code')),
});

/** What a new factor gives: ten recovery codes with the first one. */
type Added = { recovery_codes?: string[] };

/**
 * Confirms the authenticator app that the user is setting up by its first code. It replaces the one before. The caller
 * requires a fresh session.
 *
 * @throws AppError UNAUTHENTICATED if the code is wrong, or there is none to confirm; TOO_MANY.
 */
export async function confirmTotp(
  app: App,
  principal: Approved,
  { totp }: z.output<typeof confirmTotpInput>,
  client: Client,
): Promise<Added> {
  const userId = principal.user.id;
  const added = await app.db.transaction(async (tx): Promise<Added | null> => {
    await lockUser(tx, userId);
    await requireExistingSession(tx, principal);
    const browserHash = await knownBrowserHash(app, tx, { userId, token: client.knownBrowser });
    const confirmed = await takeFirstTotp(app, tx, { userId, codes: { totp }, browserHash, client });
    if (confirmed === null) return null;

    const isFirst = !(await userHasFactor(tx, userId));
    await tx.delete(totpSecrets).where(and(eq(totpSecrets.userId, userId), isNotNull(totpSecrets.confirmedAt)));
    await tx.update(totpSecrets).set({ confirmedAt: app.now() }).where(eq(totpSecrets.id, confirmed.id));
    return finishAdding(app, tx, principal, { factor: 'authenticator app', isFirst, client });
  });
  if (added === null) throw wrongCode();
  return added;
}

/**
 * What follows when a user has added a factor: no browser is trusted any more. The first one makes recovery codes, and
 * ends the user's other sessions, which began without it. The caller has locked the user's row.
 */
export async function finishAdding(
  app: App,
  tx: Transaction,
  { user, sessionId }: Approved,
  { factor, isFirst, client }: { factor: string; isFirst: boolean; client: Client },
): Promise<Added> {
  const now = app.now();
  await endTrust(tx, user.id);
  await recordAudit(tx, now, {
    action: 'factor-added',
    actorId: user.id,
    userId: user.id,
    client,
    details: { factor },
  });
  // Its code or signature was just given.
  await tx.update(sessions).set({ identityFactor: false }).where(eq(sessions.id, sessionId));
  if (!isFirst) return {};
  await endFactorGrace(app, tx, user.id);
  await deleteOtherSessions(tx, user.id, sessionId);
  return { recovery_codes: await makeRecoveryCodes(tx, user.id) };
}

/**
 * Makes ten recovery codes in place of the earlier ones. The caller requires a fresh session.
 *
 * @throws AppError CONFLICT without a factor.
 */
export function renewRecoveryCodes(
  app: App,
  principal: Approved,
  client: Client,
): Promise<{ recovery_codes: string[] }> {
  const userId = principal.user.id;
  return app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    if (!(await userHasFactor(tx, userId))) throw new AppError('CONFLICT', message('set_up_factor_first'));
    await requireExistingSession(tx, principal);
    const codes = await makeRecoveryCodes(tx, userId);
    await recordAudit(tx, app.now(), { action: 'recovery-codes-made', actorId: userId, userId, client });
    return { recovery_codes: codes };
  });
}

export const removeFactorInput = z.object({ id: z.string({ error: zodMessage('no_such_factor') }) });

/**
 * Removes an authenticator app ("totp") or a passkey. No browser is trusted any more; with the last factor the recovery
 * codes go. The caller requires a fresh session.
 *
 * @throws AppError NOT_FOUND if the user has no such factor; CONFLICT for the last one of a user who must have one.
 */
export async function removeFactor(
  app: App,
  principal: Approved,
  { id }: z.output<typeof removeFactorInput>,
  client: Client,
): Promise<void> {
  const userId = principal.user.id;
  if (id !== 'totp' && !z.uuid().safeParse(id).success) throw invalid({ id: message('no_such_factor') });

  await app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    await requireExistingSession(tx, principal);
    const removed =
      id === 'totp'
        ? await tx.delete(totpSecrets).where(eq(totpSecrets.userId, userId)).returning({ at: totpSecrets.confirmedAt })
        : await tx
            .delete(passkeys)
            .where(and(eq(passkeys.userId, userId), eq(passkeys.id, id)))
            .returning({ at: passkeys.createdAt });
    if (!removed.some(({ at }) => at !== null)) throw new AppError('NOT_FOUND', message('no_such_factor'));

    await endTrust(tx, userId);
    if (!(await userHasFactor(tx, userId))) {
      if (await mustHaveFactor(app, tx, userId)) throw new AppError('CONFLICT', message('last_factor'));
      await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
    }
    const details = { factor: id === 'totp' ? 'authenticator app' : 'passkey' };
    await recordAudit(tx, app.now(), { action: 'factor-removed', actorId: userId, userId, client, details });
  });
}
