import { createHash, createHmac } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

/** Returns the name of a secret, by which keys that it encrypted are found; '' without one. It does not reveal the secret. */
export function secretName(secret: string | null): string {
  return secret === null ? '' : createHmac('sha256', secret).update('gatehouse token keys').digest('hex').slice(0, 16);
}

/** Encrypts a private key with A256GCM; without a secret returns it as it is. */
export async function encryptKey(text: string, secret: string | null): Promise<string> {
  if (secret === null) return text;
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(encryptionKey(secret));
}

/** Returns the private key that `encryptKey` encrypted. @throws Error if it was changed, or encrypted by another secret. */
export async function decryptKey(encrypted: string, secret: string | null): Promise<string> {
  if (secret === null) return encrypted;
  const { plaintext } = await compactDecrypt(encrypted, encryptionKey(secret));
  return new TextDecoder().decode(plaintext);
}

/** The secret is random and long (config.ts), so that a fast hash is enough. */
function encryptionKey(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest();
}
