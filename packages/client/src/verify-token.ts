import type { TokenClaims } from './answers.ts';
import { GatehouseError, type TokenReason } from './error.ts';
import type { KeySet } from './key-set.ts';

export type TokenExpectation = {
  /** The audience that the token must have, as in the request that issued it. Gatehouse's own origin unless set. */
  audience?: string;
  /** PUBLIC_BASE_URL of Gatehouse, if your service reaches it by another address. */
  issuer?: string;
  /** How far the clocks of Gatehouse and this machine may differ. 5 seconds unless set. */
  toleranceSeconds?: number;
};

const maxCharacters = 8192;

/**
 * Returns the claims of a token, without a request to Gatehouse while its key is known. Verifies the signature
 * (EdDSA alone), the issuer, the audience and the times.
 *
 * @throws GatehouseError UNAUTHENTICATED (401) with a `reason` for any token that is not valid now; TIMEOUT, UNREACHABLE
 *   or Gatehouse's error if its keys cannot be read.
 */
export async function verifyToken(
  keys: KeySet,
  token: string,
  { issuer, audience, toleranceSeconds }: Required<TokenExpectation>,
): Promise<TokenClaims> {
  const [head = '', body = '', signature = '', ...more] = token.length > maxCharacters ? [] : token.split('.');
  const header = partOf(head) as { alg?: unknown; kid?: unknown } | null;
  const bytes = bytesOf(signature);
  if (header?.alg !== 'EdDSA' || typeof header.kid !== 'string' || more.length > 0 || bytes === null) {
    throw invalid('malformed');
  }

  const key = await keys.find(header.kid);
  if (key === null) throw invalid('key_unknown');
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await crypto.subtle.verify({ name: 'Ed25519' }, key, bytes, signed))) throw invalid('signature');

  const claims = partOf(body) as Partial<TokenClaims> | null;
  if (typeof claims?.exp !== 'number' || typeof claims.iat !== 'number') throw invalid('malformed');
  const now = Date.now() / 1000;
  if (claims.iss !== issuer) throw invalid('issuer');
  if (claims.aud !== audience) throw invalid('audience');
  if (claims.exp + toleranceSeconds <= now) throw invalid('expired');
  if (claims.iat - toleranceSeconds > now) throw invalid('not_yet_valid');
  return claims as TokenClaims;
}

const sentences: Record<TokenReason, string> = {
  malformed: 'The token is not one of Gatehouse.',
  key_unknown: 'Gatehouse has no key of this name: the token is of another Gatehouse, or too old.',
  signature: 'The signature of the token is wrong.',
  issuer: 'The token was issued by another Gatehouse.',
  audience: 'The token is for another service.',
  expired: 'The token has expired.',
  not_yet_valid: 'The token is not valid yet: the clock of this machine or of Gatehouse is wrong.',
};

function invalid(reason: TokenReason): GatehouseError {
  return new GatehouseError(401, 'UNAUTHENTICATED', sentences[reason], { reason });
}

/** Decodes a part of a token; null if it is not a JSON object. */
function partOf(text: string): object | null {
  const bytes = bytesOf(text);
  if (bytes === null) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w-]+$/.test(base64url)) return null;
  try {
    return Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
  } catch {
    return null;
  }
}
