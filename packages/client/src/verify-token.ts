import type { TokenClaims } from './answers.ts';
import { GatehouseError } from './error.ts';
import type { KeySet } from './key-set.ts';

export type TokenExpectation = {
  /** The audience that the token must have, as in the request that issued it. Gatehouse's own origin unless set. */
  audience?: string;
  /** PUBLIC_BASE_URL of Gatehouse, if your service reaches it by another address. */
  issuer?: string;
};

const maxCharacters = 8192;
const clockToleranceSeconds = 5;

/**
 * Returns the claims of a token, without a request to Gatehouse while its key is known. Verifies the signature
 * (EdDSA alone), the issuer, the audience and the times.
 *
 * @throws GatehouseError UNAUTHENTICATED (401) for any token that is not valid now; TIMEOUT, UNREACHABLE or
 *   Gatehouse's error if its keys cannot be read.
 */
export async function verifyToken(
  keys: KeySet,
  token: string,
  { issuer, audience }: Required<TokenExpectation>,
): Promise<TokenClaims> {
  const [head = '', body = '', signature = '', ...more] = token.length > maxCharacters ? [] : token.split('.');
  const header = partOf(head) as { alg?: unknown; kid?: unknown } | null;
  if (header?.alg !== 'EdDSA' || typeof header.kid !== 'string' || more.length > 0) throw invalid();

  const [key, bytes] = [await keys.find(header.kid), bytesOf(signature)];
  if (key === null || bytes === null) throw invalid();
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await crypto.subtle.verify({ name: 'Ed25519' }, key, bytes, signed))) throw invalid();

  const claims = partOf(body) as Partial<TokenClaims> | null;
  const now = Date.now() / 1000;
  const isInTime =
    typeof claims?.exp === 'number' &&
    typeof claims.iat === 'number' &&
    claims.exp + clockToleranceSeconds > now &&
    claims.iat - clockToleranceSeconds <= now;
  if (!isInTime || claims?.iss !== issuer || claims.aud !== audience) throw invalid();
  return claims as TokenClaims;
}

function invalid(): GatehouseError {
  return new GatehouseError(401, 'UNAUTHENTICATED', 'The token is not valid.');
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
