import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { readInvitation } from '../../organisations/invitation.ts';
import { signInAttempts } from '../../platform/db/schema/sign-in.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { identityRedirectUri } from '../../platform/links.ts';
import { message } from '../../platform/messages.ts';
import { type Client, type ClientAddress, clientKey } from '../../platform/security/client.ts';
import { constantTimeEqual, hashToken, newToken } from '../../platform/security/token.ts';
import { lockUser } from '../sessions/account.ts';
import { readSession } from '../sessions/session.ts';
import { confirmIdentity, connectIdentity } from './connect-identity.ts';
import { countSignIn } from './count-sign-in.ts';
import { decodeIdToken, requireSignInSince, validateClaims } from './id-token.ts';
import { matchUser } from './match-user.ts';

const lifetimeMinutes = 10;

/** The entropy of state and nonce (interface §8). */
const stateBytes = 24;

type Start = {
  attemptCookie: string | null;
  userId?: string | null;
  /** The session that becomes fresh, and the path to which / leads then. */
  fresh?: { sessionId: string; returnTo: string | null } | null;
};

/**
 * Starts a sign-in at the identity provider. A browser has one pending attempt, the newest. With
 * `userId` the attempt connects the identity with that user's account, or makes a session of theirs fresh
 * (connect-identity.ts), instead of signing in.
 *
 * @returns the URL of the provider's consent screen and the cookie of the attempt; null if the
 *   feature is off.
 * @throws AppError TOO_MANY; UNAUTHENTICATED if the user was deleted meanwhile; INTERNAL without a canonical base URL.
 */
export async function startSignIn(
  app: App,
  { attemptCookie, userId = null, fresh = null }: Start,
  client: ClientAddress,
) {
  if (app.idp === null) return null;
  await app.throttle.take({ 'idp-start-client': clientKey(client) });

  const redirectUri = identityRedirectUri(app.config);
  const state = newToken(stateBytes);
  const nonce = newToken(stateBytes);
  const codeVerifier = app.idp.config.pkce ? newToken() : null;
  const wanted = { userId, freshSessionId: fresh?.sessionId ?? null, returnTo: fresh?.returnTo ?? null };
  const cookie = await storeAttempt(app, { state, nonce, codeVerifier, ...wanted }, attemptCookie);

  const codeChallenge = codeVerifier && createHash('sha256').update(codeVerifier).digest('base64url');
  const maxAgeSeconds = fresh === null ? undefined : 0;
  return { url: app.idp.consentUrl({ redirectUri, state, nonce, codeChallenge, maxAgeSeconds }), cookie };
}

type Answer = {
  state: string | null;
  code: string | null;
  error: string | null;
  attemptCookie: string | null;
  /** The token of the invitation that the browser remembers. */
  invitation?: string | null;
  /** The token of the browser's session, if any. An attempt to connect an identity is tied to its user. */
  sessionToken?: string | null;
};

/**
 * Finishes a sign-in at the identity provider by steps 2 to 9 of interface §4, in that order. An
 * error answer of the provider leaves the attempt as it is. After that the attempt is consumed, so a
 * replayed callback fails.
 *
 * @returns the user, organisation and subject to start a session for; of an attempt to make a session fresh its new
 *   token, and the path to which / leads.
 * @throws Error or AppError on any failure; the reason is only logged.
 */
export function finishSignIn(app: App, answer: Answer, client: Client) {
  return countSignIn(app, 'identity_provider', () => finish(app, answer, client));
}

async function finish(app: App, answer: Answer, client: Client) {
  const { state, code, error, attemptCookie, invitation = null, sessionToken = null } = answer;
  if (app.idp === null) throw new Error('the feature is off');
  await app.throttle.peek({ 'idp-callback-client': clientKey(client) });

  try {
    if (error) throw new Error('the provider answered with an error');
    const attempt = await consumeAttempt(app, attemptCookie);
    if (attempt === null || state === null || !constantTimeEqual(state, attempt.state)) {
      throw new Error('state: none stored, or another one');
    }
    const { codeVerifier, nonce, userId, freshSessionId } = attempt;
    const signedIn = userId === null ? null : await requireSessionOf(app, userId, sessionToken);
    if (!code) throw new Error('code: absent');

    const redirectUri = identityRedirectUri(app.config);
    const idToken = await app.idp.exchangeCode({ code, redirectUri, codeVerifier });
    const { issuers, clientId } = app.idp.config;
    const claims = decodeIdToken(idToken);
    const identity = validateClaims(claims, { issuers, clientId, nonce, now: app.now() });
    if (signedIn !== null && freshSessionId !== null) {
      if (signedIn.sessionId !== freshSessionId) throw new Error('state: of an attempt of another session');
      requireSignInSince(claims, attempt.createdAt);
      const { token, waitsForCode } = await confirmIdentity(app, identity, signedIn, client);
      return { freshToken: token, waitsForCode, returnTo: attempt.returnTo };
    }

    return await app.db.transaction(async (tx) => {
      const invited = invitation !== null && (await readInvitation(app, tx, invitation)) !== null;
      const matched =
        signedIn === null
          ? await matchUser(app, tx, identity, client, { invited })
          : await connectIdentity(app, tx, identity, { ...signedIn, client });
      const { user, organisationId, accountStatus } = matched;
      if (accountStatus === 'closed') throw new Error('the account is closed');

      const linking = 'linking' in matched ? matched.linking : null;
      const replaces = signedIn?.replaces ?? null;
      return { userId: user.id, organisationId, idpSubject: identity.subject, linking, replaces };
    });
  } catch (failure) {
    await app.throttle.take({ 'idp-callback-client': clientKey(client) });
    throw failure;
  }
}

/** Returns the user of the attempt and this browser's session, which must be that user's. */
async function requireSessionOf(app: App, userId: string, token: string | null) {
  const principal = token === null ? null : await readSession(app, token);
  if (principal?.user.id !== userId) throw new Error('state: of an attempt of another user');
  const { sessionId, hasFactor, identityFactor } = principal;
  return { userId, sessionId, replaces: { hasFactor, identityFactor } };
}

type Attempt = typeof signInAttempts.$inferSelect;

/**
 * Stores a pending attempt in place of the browser's previous one, and returns the value of the
 * cookie that identifies it.
 *
 * @throws AppError UNAUTHENTICATED if the account of its user was deleted meanwhile.
 */
async function storeAttempt(
  app: App,
  attempt: Omit<Attempt, 'idHash' | 'createdAt' | 'expiresAt'>,
  replaced: string | null,
): Promise<string> {
  const cookie = newToken();
  const now = app.now();
  await app.db.transaction(async (tx) => {
    const { userId } = attempt;
    if (userId !== null && !(await lockUser(tx, userId)))
      throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
    if (replaced !== null) await tx.delete(signInAttempts).where(eq(signInAttempts.idHash, hashToken(replaced)));
    await tx.insert(signInAttempts).values({
      idHash: hashToken(cookie),
      ...attempt,
      createdAt: now,
      expiresAt: new Date(now.getTime() + lifetimeMinutes * minuteMilliseconds),
    });
  });
  return cookie;
}

/**
 * Consumes the attempt of a cookie; null if there is none or it has expired. Its state and nonce
 * cannot be used again, whatever the result of the sign-in.
 */
async function consumeAttempt(app: App, cookie: string | null): Promise<Attempt | null> {
  if (cookie === null) return null;

  const [taken] = await app.db
    .delete(signInAttempts)
    .where(eq(signInAttempts.idHash, hashToken(cookie)))
    .returning();
  return taken !== undefined && taken.expiresAt > app.now() ? taken : null;
}
