import type { IdentityConfig } from '../config.ts';
import { foreignFailure } from '../errors.ts';
import { type InstrumentCall, uninstrumented } from '../telemetry/instrument-calls.ts';

export type Identity = {
  config: IdentityConfig;
  /** The provider's consent screen, with the parameters of interface §4 GET /auth/idp/start. */
  consentUrl: (attempt: { redirectUri: string; state: string; nonce: string; codeChallenge: string | null }) => string;
  /**
   * Exchanges a code for an ID token (RFC 6749 §4.1.3). @throws on any transport error,
   * redirect, non-2xx status, answer over 1 MB, or answer without id_token.
   */
  exchangeCode: (grant: { code: string; redirectUri: string; codeVerifier: string | null }) => Promise<string>;
  /** Whether the consent screen takes a redirect address. @throws on any transport error. */
  takesRedirectUri: (redirectUri: string) => Promise<boolean>;
  /** Whether the token endpoint knows our client id and secret. @throws on any transport error. */
  knowsClient: (redirectUri: string) => Promise<boolean>;
};

/** An https form of every issuer: one provider may name itself with and without its scheme (interface §2). */
export function canonicalIssuer(issuer: string): string {
  return issuer.includes('://') ? issuer : `https://${issuer}`;
}

/**
 * Whether this issuer also verifies addresses of domains that it does not host, so that
 * only its claim `hd` says that an address belongs to the domain's organisation.
 */
export function verifiesForeignDomains(issuer: string): boolean {
  return canonicalIssuer(issuer) === 'https://accounts.google.com';
}

const tokenTimeoutSeconds = 10;
const largestAnswerBytes = 1_000_000;

export function createIdentity(config: IdentityConfig, instrument: InstrumentCall = uninstrumented): Identity {
  const consentUrl: Identity['consentUrl'] = ({ redirectUri, state, nonce, codeChallenge }) => {
    const url = new URL(config.authUrl);
    url.searchParams.set('client_id', config.clientId);
    url.searchParams.set('redirect_uri', redirectUri);
    url.searchParams.set('response_type', 'code');
    url.searchParams.set('scope', 'openid email profile');
    url.searchParams.set('state', state);
    url.searchParams.set('nonce', nonce);
    url.searchParams.set('prompt', 'select_account');
    if (codeChallenge !== null) {
      url.searchParams.set('code_challenge', codeChallenge);
      url.searchParams.set('code_challenge_method', 'S256');
    }
    return url.href;
  };

  function askForToken({ code, redirectUri, codeVerifier }: Parameters<Identity['exchangeCode']>[0]) {
    return request('token endpoint', config.tokenUrl, {
      method: 'POST',
      redirect: 'error',
      // One clock over head and body: a slow body must not outlive it either.
      signal: AbortSignal.timeout(tokenTimeoutSeconds * 1000),
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

  async function exchangeCode(grant: Parameters<Identity['exchangeCode']>[0]): Promise<string> {
    const answer = await askForToken(grant);
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new Error(`token endpoint: status ${answer.status}`);
    }

    const token = readJson(await readAtMost(answer, largestAnswerBytes));
    if (typeof token !== 'object' || token === null || !('id_token' in token) || typeof token.id_token !== 'string') {
      throw new Error('token endpoint: no id_token');
    }
    return token.id_token;
  }

  return {
    config,
    consentUrl,
    exchangeCode: (grant) => instrument('token', () => exchangeCode(grant), isRefused),
    async takesRedirectUri(redirectUri) {
      const attempt = {
        redirectUri,
        state: 'a-look',
        nonce: 'a-look',
        codeChallenge: config.pkce ? someChallenge : null,
      };
      const signal = AbortSignal.timeout(tokenTimeoutSeconds * 1000);
      const answer = await request('consent screen', consentUrl(attempt), { redirect: 'manual', signal });
      await answer.body?.cancel();
      // Some providers refuse with a status, others by leading to a page of theirs that says why.
      return answer.status < 400 && !/\berror\b/i.test(answer.headers.get('location') ?? '');
    },
    async knowsClient(redirectUri) {
      // A code that nobody was given: only who asks for it is judged (RFC 6749 §5.2).
      const answer = await askForToken({ code: 'none', redirectUri, codeVerifier: config.pkce ? someChallenge : null });
      const text = await readAtMost(answer, largestAnswerBytes);
      return answer.status !== 401 && !text.includes('invalid_client');
    },
  };
}

/** Whether the provider answered, and would not have our code or our client (RFC 6749 §5.2). */
function isRefused(error: unknown): boolean {
  return error instanceof Error && /: status 4\d\d$/.test(error.message);
}

/** Of the form that RFC 7636 asks for, and nobody's. */
const someChallenge = 'A'.repeat(43);

/** Says nothing of what it could not read: there may be tokens in it, and the sentence goes to the log. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('token endpoint: no JSON');
  }
}

/** @throws an error with the code of the failure alone: fetch's own may quote the answer. */
async function request(what: string, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw foreignFailure(`${what}: no answer`, error);
  }
}

async function readAtMost(answer: Response, bytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of answer.body ?? []) {
      length += part.byteLength;
      if (length > bytes) break;
      parts.push(part);
    }
  } catch (error) {
    throw foreignFailure('token endpoint: no whole answer', error);
  }
  if (length > bytes) throw new Error('token endpoint: the answer is too large');
  return Buffer.concat(parts).toString('utf8');
}
