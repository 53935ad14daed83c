import { hash } from 'node:crypto';
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

export type RecentTokens = {
  /** Remembers a token that was valid when it was read, by its hash. */
  note: (tokenHash: string) => void;
  /** Whether a token was valid when it was last read. It grants nothing: the token may have ended since. */
  has: (token: string) => boolean;
};

const maxTokens = 10_000;

/**
 * Remembers which session tokens and API keys were recently read from the database by this process, so that an overload
 * by invented ones does not keep true users out. It grants no right: a closed account's session may be among them.
 * Beyond `most`, the one that was read least recently is forgotten.
 */
export function createRecentTokens(most = maxTokens): RecentTokens {
  const hashes = new Set<string>();

  return {
    note(tokenHash) {
      hashes.delete(tokenHash);
      hashes.add(tokenHash);
      if (hashes.size <= most) return;
      const [oldest] = hashes;
      if (oldest !== undefined) hashes.delete(oldest);
    },
    has: (token) => hashes.has(hashToken(token)),
  };
}
