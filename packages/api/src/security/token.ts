import { createHash } from 'node:crypto';
import { base64url } from 'oslo/encoding';

/** An unguessable, URL-safe text made from so many random bytes. */
export function newToken(byteCount = 32): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(byteCount)), { includePadding: false });
}

/**
 * What rests in the database in a token's place: whoever reads the table holds
 * nothing that opens a door. A fast hash is enough for 32 random bytes.
 */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
