import { createHash } from 'node:crypto';
import { type Config, isLoopback } from '../platform/config.ts';
import { newToken } from '../platform/security/token.ts';

/** `gh_live_`, 32 random bytes and a checksum, all URL-safe: secret scanners recognise the form and check it. */
const form = /^gh_(?:live|test)_[\w-]{43}_[\w-]{6}$/;
const checksumLength = 6;

/** Returns a new key of this deployment. */
export function newKey(config: Pick<Config, 'publicBaseUrl'>): string {
  const start = `${prefixOf(config)}${newToken()}`;
  return `${start}_${checksumOf(start)}`;
}

/**
 * Whether a text can be a key of this deployment: its form, its checksum, and `gh_test_` on
 * loopback only. Needs no query, so invented keys do not reach the database.
 */
export function isWellFormedKey(config: Pick<Config, 'publicBaseUrl'>, key: string): boolean {
  if (!form.test(key) || !key.startsWith(prefixOf(config))) return false;
  return key.slice(-checksumLength) === checksumOf(key.slice(0, -checksumLength - 1));
}

/** Returns the part of a key by which people recognise it: `gh_live_AbCd…x9Yz`. */
export function hintOf(key: string): string {
  return `${key.slice(0, 12)}…${key.slice(-4)}`;
}

function prefixOf({ publicBaseUrl }: Pick<Config, 'publicBaseUrl'>): string {
  return publicBaseUrl !== null && isLoopback(new URL(publicBaseUrl).hostname) ? 'gh_test_' : 'gh_live_';
}

/** The checksum protects against mistakes, not against attackers: the hash in the table does that. */
function checksumOf(start: string): string {
  return createHash('sha256').update(start).digest('base64url').slice(0, checksumLength);
}

/** What a key may have. Each includes the ones before it. */
export type KeyScope = 'READ' | 'WRITE' | 'MANAGE';

const keyScopes: KeyScope[] = ['READ', 'WRITE', 'MANAGE'];

/** Returns the scopes of a key: the stored one with those that it includes. */
export function scopesOfKey(scope: KeyScope): KeyScope[] {
  return keyScopes.slice(0, keyScopes.indexOf(scope) + 1);
}
