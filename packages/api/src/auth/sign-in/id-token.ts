import { canonicalIssuer } from '../../platform/providers/identity.ts';
import { domainOf, readAddress } from '../../platform/security/address.ts';
import { cleanName, isStorable } from '../../platform/security/text.ts';

export type Claims = Record<string, unknown>;
export type Identity = {
  /** In the form of canonicalIssuer. */
  issuer: string;
  subject: string;
  email: string;
  name: string | null;
  /**
   * The domain of the user's organisation at the provider (`hd`), in the form in which addresses
   * store domains.
   */
  hostedDomain: string | null;
};
type ExpectedClaims = { issuers: string[]; clientId: string; nonce: string | null; now: Date };

const longestSubject = 255;
const longestName = 100;

/**
 * Returns the claims of an ID token. Its signature is not verified, because the token came from the
 * token endpoint over TLS (interface §4; OpenID Connect Core §3.1.3.7 (6)).
 *
 * @throws Error unless the token has three segments with a base64url JSON object in the second.
 */
export function decodeIdToken(token: string): Claims {
  const segments = token.split('.');
  const payload = segments[1] ?? '';
  if (segments.length !== 3) throw new Error('id_token: not three segments');
  if (!isBase64url(payload)) throw new Error('id_token: not base64url');

  const bytes = Buffer.from(payload, 'base64url');
  const claims = readJson(bytes);
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) throw new Error('id_token: no object');
  return claims as Claims;
}

/** Whether a text is base64url, with or without its padding (RFC 4648 §3.2, §5). */
function isBase64url(text: string): boolean {
  const [, digits = '', padding = ''] = /^([A-Za-z0-9_-]+)(={0,2})$/.exec(text) ?? [];
  if (digits === '' || digits.length % 4 === 1) return false;
  return padding === '' || text.length % 4 === 0;
}

/** Does not quote the bytes in its error, because the error is logged. */
function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Error('id_token: not JSON');
  }
}

/**
 * Returns the identity that the claims describe, after the checks of interface §4 step 8, in that
 * order.
 *
 * @throws Error for the first invalid claim, with its name and without its value.
 */
export function validateClaims(claims: Claims, { issuers, clientId, nonce, now }: ExpectedClaims): Identity {
  const { iss, aud, exp, sub } = claims;
  if (typeof iss !== 'string' || !issuers.includes(iss)) throw new Error('id_token: iss is not accepted');
  if (aud !== clientId) throw new Error('id_token: aud is not this client');
  if (nonce !== null && claims.nonce !== nonce) throw new Error('id_token: nonce is not the stored one');
  if (exp !== undefined && exp !== null && exp !== 0) {
    if (typeof exp !== 'number' || !Number.isFinite(exp)) throw new Error('id_token: exp is no number');
    if (exp < Math.floor(now.getTime() / 1000)) throw new Error('id_token: exp is in the past');
  }

  const email = typeof claims.email === 'string' ? readSameAddress(claims.email) : null;
  if (email === null) throw new Error('id_token: email is absent or no address');
  if (!isTrue(claims.email_verified)) throw new Error('id_token: email is not verified');
  if (typeof sub !== 'string' || sub === '' || sub.length > longestSubject || !isStorable(sub)) {
    throw new Error('id_token: sub is absent or no subject');
  }
  return {
    issuer: canonicalIssuer(iss),
    subject: sub,
    email,
    name: typeof claims.name === 'string' ? cleanName(claims.name, longestName) : null,
    hostedDomain: readDomain(claims.hd),
  };
}

/**
 * Requires that the user signed in at the provider for this attempt, where the provider says when that was. A minute is
 * left for clocks that differ.
 *
 * @throws Error if `auth_time` is more than 60 seconds before the attempt began, or no time.
 */
export function requireSignInSince(claims: Claims, begun: Date): void {
  const { auth_time: at } = claims;
  if (at === undefined || at === null) return;
  if (typeof at !== 'number' || !Number.isFinite(at)) throw new Error('id_token: auth_time is no number');
  if (at < begun.getTime() / 1000 - 60) throw new Error('id_token: auth_time is before the attempt');
}

/**
 * Returns the address in its stored form. Returns null if NFKC changes it, because the provider
 * verified another mailbox that only looks the same.
 */
function readSameAddress(text: string): string | null {
  const typed = text.trim();
  const plain = typed.toLowerCase();
  return typed === typed.normalize('NFKC') && plain === plain.normalize('NFKC') ? readAddress(plain) : null;
}

/** Whether a claim is true. Some providers send the string "false". */
function isTrue(value: unknown): boolean {
  if (typeof value === 'string' && ['false', '0'].includes(value.trim().toLowerCase())) return false;
  return Boolean(value);
}

function readDomain(value: unknown): string | null {
  const address = typeof value === 'string' ? readAddress(`name@${value}`) : null;
  return address && domainOf(address);
}
