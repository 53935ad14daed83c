import type { IdentityConfig } from '../config.ts';
import { type InstrumentCall, uninstrumented } from '../telemetry/telemetry.ts';
import { readAtMost, request } from './bounded-answer.ts';

export type IdentityProvider = {
  config: IdentityConfig;
  /**
   * Returns the URL of the provider's consent screen, with the parameters of interface §4 GET
   * /auth/idp/start. With `maxAgeSeconds` the provider asks its user to sign in there again (OpenID Connect Core
   * §3.1.2.1).
   */
  consentUrl: (attempt: {
    redirectUri: string;
    state: string;
    nonce: string;
    codeChallenge: string | null;
    maxAgeSeconds?: number | undefined;
  }) => string;
  /**
   * Exchanges a code for an ID token (RFC 6749 §4.1.3).
   *
   * @throws Error on a transport error, a redirect, a status other than 2xx, an answer over 1 MB, or
   *   an answer without id_token.
   */
  exchangeCode: (grant: { code: string; redirectUri: string; codeVerifier: string | null }) => Promise<string>;
  /** Whether the consent screen accepts a redirect URI. @throws Error on a transport error. */
  acceptsRedirectUri: (redirectUri: string) => Promise<boolean>;
  /** Whether the token endpoint accepts our client id and secret. @throws Error on a transport error. */
  acceptsClient: (redirectUri: string) => Promise<boolean>;
};

/**
 * Returns an issuer as an https URL: some providers name themselves with and without the scheme
 * (interface §2).
 */
export function canonicalIssuer(issuer: string): string {
  return issuer.includes('://') ? issuer : `https://${issuer}`;
}

/**
 * Whether an issuer also verifies addresses of domains that it does not host. Only its claim `hd`
 * then proves that an address belongs to the organisation of its domain.
 */
export function verifiesForeignDomains(issuer: string): boolean {
  return canonicalIssuer(issuer) === 'https://accounts.google.com';
}

const largestAnswerBytes = 1_000_000;

/** Creates the client of the identity provider. It sends nothing until a function is called. */
export function createIdentityProvider(
  config: IdentityConfig,
  instrument: InstrumentCall = uninstrumented,
): IdentityProvider {
  const consentUrl: IdentityProvider['consentUrl'] = ({ redirectUri, state, nonce, codeChallenge, maxAgeSeconds }) => {
    const url = new URL(config.authUrl);
    url.searchParams.set('client_id', config.clientId);
    url.searchParams.set('redirect_uri', redirectUri);
    url.searchParams.set('response_type', 'code');
    url.searchParams.set('scope', 'openid email profile');
    url.searchParams.set('state', state);
    url.searchParams.set('nonce', nonce);
    url.searchParams.set('prompt', 'select_account');
    if (maxAgeSeconds !== undefined) url.searchParams.set('max_age', String(maxAgeSeconds));
    if (codeChallenge !== null) {
      url.searchParams.set('code_challenge', codeChallenge);
      url.searchParams.set('code_challenge_method', 'S256');
    }
    return url.href;
  };

  function requestToken({ code, redirectUri, codeVerifier }: Parameters<IdentityProvider['exchangeCode']>[0]) {
    return request('token endpoint', config.tokenUrl, {
      method: 'POST',
      redirect: 'error',
      // The timeout includes the body, so that a slow body cannot exceed it.
      signal: AbortSignal.timeout(config.timeoutSeconds * 1000),
      headers: { accept: 'application/json' },
      body: new URLSearchParams({
        code,
        client_id: config.clientId,
        client_secret: config.clientSecret,
        redirect_uri: redirectUri,
        grant_type: 'authorization_code',
        ...(codeVerifier === null ? {} : { code_verifier: codeVerifier }),
      }),
    });
  }

  async function exchangeCode(grant: Parameters<IdentityProvider['exchangeCode']>[0]): Promise<string> {
    const answer = await requestToken(grant);
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new Error(`token endpoint: status ${answer.status}`);
    }

    const token = readJson(await readAtMost('token endpoint', answer, largestAnswerBytes));
    if (typeof token !== 'object' || token === null || !('id_token' in token) || typeof token.id_token !== 'string') {
      throw new Error('token endpoint: no id_token');
    }
    return token.id_token;
  }

  return {
    config,
    consentUrl,
    exchangeCode: (grant) => instrument('token', () => exchangeCode(grant), isRefused),
    async acceptsRedirectUri(redirectUri) {
      const attempt = {
        redirectUri,
        state: 'check',
        nonce: 'check',
        codeChallenge: config.pkce ? placeholderChallenge : null,
      };
      const signal = AbortSignal.timeout(config.timeoutSeconds * 1000);
      const answer = await request('consent screen', consentUrl(attempt), { redirect: 'manual', signal });
      await answer.body?.cancel();
      // Some providers refuse with a status, others by a redirect to an error page.
      return answer.status < 400 && !/\berror\b/i.test(answer.headers.get('location') ?? '');
    },
    async acceptsClient(redirectUri) {
      // The code is invalid on purpose: a provider checks the client before the code (RFC 6749 §5.2).
      const answer = await requestToken({
        code: 'none',
        redirectUri,
        codeVerifier: config.pkce ? placeholderChallenge : null,
      });
      const text = await readAtMost('token endpoint', answer, largestAnswerBytes);
      return answer.status !== 401 && !text.includes('invalid_client');
    },
  };
}

/** Whether the provider answered and refused our code or our client (RFC 6749 §5.2). */
function isRefused(error: unknown): boolean {
  return error instanceof Error && /: status 4\d\d$/.test(error.message);
}

/** A placeholder in the form that RFC 7636 requires. */
const placeholderChallenge = 'A'.repeat(43);

/** Does not quote the text in its error, because the text may contain tokens and the error is logged. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('token endpoint: no JSON');
  }
}
