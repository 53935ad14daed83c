import { canonicalIssuer } from '../providers/identity.ts';
import { domainOf, readAddress } from '../security/address.ts';
import { cleanName, isStorable } from '../security/text.ts';

export type Claims = Record<string, unknown>;
export type Identity = {
  /** In the form of canonicalIssuer. */
  issuer: string;
  subject: string;
  email: string;
  name: string | null;
  /** The organisation's domain that the provider vouches for (`hd`), as addresses store domains. */
  hostedDomain: string | null;
};
type Expected = { issuers: string[]; clientId: string; nonce: string | null; now: Date };

const longestSubject = 255;
const longestName = 100;

/**
 * The claims of an ID token. Its signature is not verified, because it came from the
 * token endpoint over TLS (interface §4; OpenID Connect Core §3.1.3.7 (6)).
 *
 * @throws for anything but three segments with a base64url JSON object in the second.
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

/** With its padding, or without: then it has a length that padding can restore (RFC 4648 §3.2, §5). */
function isBase64url(text: string): boolean {
  const [, digits = '', padding = ''] = /^([A-Za-z0-9_-]+)(={0,2})$/.exec(text) ?? [];
  if (digits === '' || digits.length % 4 === 1) return false;
  return padding === '' || text.length % 4 === 0;
}

/** Says nothing of what it could not read: the sentence goes to the log. */
function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Error('id_token: not JSON');
  }
}

/**
 * Who the claims speak of, checked in the interface's order (§4 step 8).
 *
 * @throws for the first claim that will not do; the message names it, without its value.
 */
export function validateClaims(claims: Claims, { issuers, clientId, nonce, now }: Expected): Identity {
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
  if (!saysYes(claims.email_verified)) throw new Error('id_token: email is not verified');
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
 * Returns the address in its stored form, where NFKC leaves it as the provider verified it:
 * another mailbox may look the same once it is normalised.
 */
function readSameAddress(text: string): string | null {
  const typed = text.trim();
  const plain = typed.toLowerCase();
  return typed === typed.normalize('NFKC') && plain === plain.normalize('NFKC') ? readAddress(plain) : null;
}

/** Truthy, and not a text that says no: some providers send "false". */
function saysYes(value: unknown): boolean {
  if (typeof value === 'string' && ['false', '0'].includes(value.trim().toLowerCase())) return false;
  return Boolean(value);
}

function readDomain(value: unknown): string | null {
  const address = typeof value === 'string' ? readAddress(`name@${value}`) : null;
  return address && domainOf(address);
}
