import { and, eq, inArray, ne } from 'drizzle-orm';
import type { App } from '../app.ts';
import { deploymentSecrets } from '../platform/db/schema/deployment.ts';
import { totpSecrets } from '../platform/db/schema/factors.ts';
import { tokenKeys } from '../platform/db/schema/tokens.ts';
import { type SecretName, secretPurpose } from '../platform/security/deployment-secret.ts';
import { decryptSecret, encryptSecret, keyNames, type StoredSecret } from '../platform/security/encryption.ts';
import { totpPurpose } from './factors/totp.ts';
import { purposeOf } from './tokens/token-keys.ts';

/** The log's pseudonyms are not among them: they guard nothing. */
const secretNames: SecretName[] = ['challenges', 'trials', 'sign-ups'];

const batchSize = 500;

/**
 * Encrypts under the first key of SECRET_KEY what an older one encrypted, or none. So a roll forgets nothing, and the old
 * key can go once the doctor counts nothing that it holds. What no key can decrypt stays as it is. Does nothing without
 * SECRET_KEY.
 */
export async function encryptAnew(app: App): Promise<void> {
  const [current] = keyNames(app.config.secretKeys);
  if (current === undefined) return;
  const readable = ['', ...keyNames(app.config.secretKeys)].filter((name) => name !== current);

  for (let done = batchSize; done === batchSize; ) {
    const rows = await app.db
      .select()
      .from(totpSecrets)
      .where(inArray(totpSecrets.encryptedBy, readable))
      .limit(batchSize);
    done = 0;
    for (const { id, userId, secret, encryptedBy } of rows) {
      const anew = reencrypted(app, { stored: secret, encryptedBy }, totpPurpose(userId));
      if (anew === null) continue;
      done += 1;
      await app.db
        .update(totpSecrets)
        .set({ secret: anew.stored, encryptedBy: anew.encryptedBy })
        .where(and(eq(totpSecrets.id, id), eq(totpSecrets.secret, secret)));
    }
  }

  const isOld = and(inArray(deploymentSecrets.name, secretNames), ne(deploymentSecrets.encryptedBy, current));
  for (const { name, value, encryptedBy } of await app.db.select().from(deploymentSecrets).where(isOld)) {
    const anew = reencrypted(app, { stored: value, encryptedBy }, secretPurpose(name));
    if (anew === null) continue;
    await app.db
      .update(deploymentSecrets)
      .set({ value: anew.stored, encryptedBy: anew.encryptedBy })
      .where(and(eq(deploymentSecrets.name, name), eq(deploymentSecrets.value, value)));
  }

  const keys = await app.db.select().from(tokenKeys);
  let hasNewest = keys.some(({ encryptedBy, signsUntil }) => encryptedBy === current && signsUntil === null);
  for (const { id, privateKey, encryptedBy, signsUntil } of keys.filter((key) => key.encryptedBy !== current)) {
    const anew = reencrypted(app, { stored: privateKey, encryptedBy }, purposeOf(id));
    if (anew === null) continue;
    // A node that could not decrypt this key has made another one, which goes on signing alone.
    const until = signsUntil ?? (hasNewest ? app.now() : null);
    hasNewest ||= until === null;
    await app.db
      .update(tokenKeys)
      .set({ privateKey: anew.stored, encryptedBy: anew.encryptedBy, signsUntil: until })
      .where(and(eq(tokenKeys.id, id), eq(tokenKeys.privateKey, privateKey)));
  }
}

function reencrypted({ config }: App, secret: StoredSecret, purpose: string): StoredSecret | null {
  const text = decryptSecret(config.secretKeys, secret, purpose);
  return text === null ? null : encryptSecret(config.secretKeys, text, purpose);
}

/** Returns how many secrets an older key of SECRET_KEY still holds, and how many no configured key can decrypt. */
export async function countOldSecrets({ config, db }: App): Promise<{ older: number; lost: number }> {
  const names = keyNames(config.secretKeys);
  const rows = [
    ...(await db.select({ by: totpSecrets.encryptedBy }).from(totpSecrets)),
    ...(await db.select({ by: tokenKeys.encryptedBy }).from(tokenKeys)),
    ...(await db.select({ by: deploymentSecrets.encryptedBy }).from(deploymentSecrets)),
  ].filter(({ by }) => by !== '');
  return {
    older: rows.filter(({ by }) => names.indexOf(by) > 0).length,
    lost: rows.filter(({ by }) => !names.includes(by)).length,
  };
}
