import { hash, timingSafeEqual } from 'node:crypto';
import { base64url } from 'oslo/encoding';

/** Returns a URL-safe token of random bytes. */
export function newToken(byteCount = 32): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(byteCount)), { includePadding: false });
}

/**
 * Returns the hash under which a token is stored, so that a copy of the table contains no valid
 * token. A fast hash is enough for 32 random bytes.
 */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** Whether two strings are equal, in a time that does not depend on where they differ. */
export function constantTimeEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(one)), Buffer.from(hashToken(other)));
}
