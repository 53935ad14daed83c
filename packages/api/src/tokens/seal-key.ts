import { createHash, createHmac } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

/** Returns the name of a secret, by which keys that it encrypted are found; '' without one. It does not reveal the secret. */
export function sealName(secret: string | null): string {
  return secret === null ? '' : createHmac('sha256', secret).update('gatehouse token keys').digest('hex').slice(0, 16);
}

/** Encrypts a private key with A256GCM; without a secret returns it as it is. */
export async function sealKey(text: string, secret: string | null): Promise<string> {
  if (secret === null) return text;
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(encryptionKey(secret));
}

/** Returns the private key that `sealKey` encrypted. @throws Error if it was changed, or sealed by another secret. */
export async function openKey(sealed: string, secret: string | null): Promise<string> {
  if (secret === null) return sealed;
  const { plaintext } = await compactDecrypt(sealed, encryptionKey(secret));
  return new TextDecoder().decode(plaintext);
}

/** The secret is random and long (config.ts), so that a fast hash is enough. */
function encryptionKey(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest();
}
