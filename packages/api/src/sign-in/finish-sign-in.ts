import type { App } from '../app.ts';
import { identityRedirectUri } from '../links.ts';
import { readInvitation } from '../organisations/invitation.ts';
import type { Client } from '../security/client.ts';
import { clientKey } from '../security/client-key.ts';
import { constantTimeEqual } from '../security/constant-time.ts';
import { readSession } from '../sessions/session.ts';
import { consumeAttempt } from './attempt.ts';
import { connectIdentity } from './connect-identity.ts';
import { decodeIdToken, validateClaims } from './id-token.ts';
import { matchUser } from './match-user.ts';
import { recordSignIn } from './record-sign-in.ts';

type Answer = {
  state: string | null;
  code: string | null;
  error: string | null;
  attemptCookie: string | null;
  /** The token of the invitation that the browser remembers. */
  invitation?: string | null;
  /** The token of the browser's session, if any. An attempt to connect an identity is tied to its user. */
  sessionId?: string | null;
};

/**
 * Finishes a sign-in at the identity provider by steps 2 to 9 of interface §4, in that order. An
 * error answer of the provider leaves the attempt as it is. After that the attempt is consumed, so a
 * replayed callback fails.
 *
 * @returns the user, organisation and subject to start a session for.
 * @throws Error or AppError on any failure; the reason is only logged.
 */
export function finishSignIn(app: App, answer: Answer, client: Client) {
  return recordSignIn(app, 'identity_provider', () => finish(app, answer, client));
}

async function finish(app: App, answer: Answer, client: Client) {
  const { state, code, error, attemptCookie, invitation = null, sessionId = null } = answer;
  if (app.idp === null) throw new Error('the feature is off');
  await app.throttle.peek({ 'idp-callback-client': clientKey(client.address) });

  try {
    if (error) throw new Error('the provider answered with an error');
    const attempt = await consumeAttempt(app, attemptCookie);
    if (attempt === null || state === null || !constantTimeEqual(state, attempt.state)) {
      throw new Error('state: none stored, or another one');
    }
    const { codeVerifier, nonce, userId } = attempt;
    const connecting = userId === null ? null : await requireSessionOf(app, userId, sessionId);
    if (!code) throw new Error('code: absent');

    const redirectUri = identityRedirectUri(app.config);
    const idToken = await app.idp.exchangeCode({ code, redirectUri, codeVerifier });
    const { issuers, clientId } = app.idp.config;
    const identity = validateClaims(decodeIdToken(idToken), { issuers, clientId, nonce, now: app.now() });

    return await app.db.transaction(async (tx) => {
      const invited = invitation !== null && (await readInvitation(app, tx, invitation)) !== null;
      const { user, organisationId, accountStatus } =
        connecting === null
          ? await matchUser(app, tx, identity, client, { invited })
          : await connectIdentity(app, tx, identity, { ...connecting, client });
      if (accountStatus === 'closed') throw new Error('the account is closed');

      return { userId: user.id, organisationId, idpSubject: identity.subject };
    });
  } catch (failure) {
    await app.throttle.take({ 'idp-callback-client': clientKey(client.address) });
    throw failure;
  }
}

/** Returns the user of the attempt and this browser's session, which must be that user's. */
async function requireSessionOf(app: App, userId: string, token: string | null) {
  const principal = token === null ? null : await readSession(app, token);
  if (principal?.user.id !== userId) throw new Error('state: of an attempt of another user');
  return { userId, sessionId: principal.sessionId };
}
