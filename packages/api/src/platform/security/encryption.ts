import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** A text as a table keeps it: encrypted, and the name of the key that did it; '' where there is none. */
export type StoredSecret = { stored: string; encryptedBy: string };

/** The keys of SECRET_KEY: the first encrypts, all decrypt. */
type SecretKeys = readonly string[];

/**
 * Encrypts a text with AES-256-GCM under the first key (NIST SP 800-38D, a random nonce of 96 bits for each text).
 * `purpose` is authenticated with it (the table and the row), so that the text cannot be used in another row. Without a
 * key the text is stored as it is.
 */
export function encryptSecret([key]: SecretKeys, text: string, purpose: string): StoredSecret {
  if (key === undefined) return { stored: text, encryptedBy: '' };

  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey(key), nonce).setAAD(Buffer.from(purpose));
  const encrypted = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { stored: encrypted.toString('base64url'), encryptedBy: keyName(key) };
}

/** Returns the text that `encryptSecret` stored; null if its key is no longer configured, or it was changed. */
export function decryptSecret(keys: SecretKeys, { stored, encryptedBy }: StoredSecret, purpose: string): string | null {
  if (encryptedBy === '') return stored;
  const key = keys.find((each) => keyName(each) === encryptedBy);
  if (key === undefined) return null;

  const bytes = Buffer.from(stored, 'base64url');
  try {
    const decipher = createDecipheriv('aes-256-gcm', encryptionKey(key), bytes.subarray(0, 12))
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(-16));
    return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}

/** The names of the keys, the first one's first. A name does not reveal its key. */
export function keyNames(keys: SecretKeys): string[] {
  return keys.map(keyName);
}

function keyName(key: string): string {
  return createHmac('sha256', key).update('gatehouse key name').digest('hex').slice(0, 16);
}

/** The configured key is random and long (config.ts), so that a fast derivation is enough. */
function encryptionKey(key: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'gatehouse encryption', 32));
}
