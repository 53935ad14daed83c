import { createHash } from 'node:crypto';
import type { App } from '../app.ts';
import { identityRedirectUri } from '../links.ts';
import { clientKey } from '../security/client-key.ts';
import { newToken } from '../security/token.ts';
import { storeAttempt } from './attempt.ts';

/** The entropy of state and nonce (interface §8). */
const stateBytes = 24;

/**
 * Starts a sign-in at the identity provider. A browser has one pending attempt, the newest. With
 * `userId` the attempt connects the identity with that user's account (connect-identity.ts) instead
 * of signing in.
 *
 * @returns the URL of the provider's consent screen and the cookie of the attempt; null if the
 *   feature is off.
 * @throws AppError TOO_MANY; INTERNAL without a canonical base URL.
 */
export async function startSignIn(
  app: App,
  { attemptCookie, userId = null }: { attemptCookie: string | null; userId?: string | null },
  client: { address: string },
) {
  if (app.idp === null) return null;
  await app.throttle.take({ 'idp-start-client': clientKey(client.address) });

  const redirectUri = identityRedirectUri(app.config);
  const state = newToken(stateBytes);
  const nonce = newToken(stateBytes);
  const codeVerifier = app.idp.config.pkce ? newToken() : null;
  const cookie = await storeAttempt(app, { state, nonce, codeVerifier, userId }, attemptCookie);

  const codeChallenge = codeVerifier && createHash('sha256').update(codeVerifier).digest('base64url');
  return { url: app.idp.consentUrl({ redirectUri, state, nonce, codeChallenge }), cookie };
}
