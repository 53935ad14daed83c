import { and, eq, gt, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { codeFields, hasCode, type TypedCodes, takeCode, wrongCode } from '../factors/check-code.ts';
import { usableMethods } from '../factors/has-factor.ts';
import { passkeyField, refusedPasskey, takePasskey, verifyPasskey } from '../factors/passkeys.ts';
import type { UserPrincipal } from '../principal.ts';
import { lockUser } from '../sessions/account.ts';
import { knownBrowserHash } from '../sessions/known-browser.ts';
import { freshMilliseconds, renewSession } from '../sessions/session.ts';
import { confirmPassword, readPasswordHash } from './confirm-password.ts';

/** The password, and a code where the user has a second factor. After the provider's round trip a code alone. */
export const freshSignInInput = z.object({
  password: z.string({ error: zodMessage('enter_password') }).optional(),
  ...codeFields,
  passkey: passkeyField.optional(),
});

/**
 * Makes the session fresh by the user's password and second factor: the 15 minutes begin, and the session gets a new
 * token and loses its shared one, so that a copy of the old cookie gains nothing. In a session whose user has just come
 * back from the identity provider a code alone does so, once. Allowed while the account awaits approval.
 *
 * @returns the session's new token, for its cookie.
 * @throws AppError VALIDATION without a password; UNAUTHENTICATED if the password or the code is wrong, or the session
 *   has ended; SECOND_FACTOR_REQUIRED if only the code is missing; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function signInFresh(
  app: App,
  principal: UserPrincipal,
  { password, passkey: typed, ...codes }: z.output<typeof freshSignInInput>,
  challengeCookie: string | null,
  client: Client,
): Promise<string> {
  const { user, sessionId } = principal;
  const wrong = message('wrong_credentials');
  const passkey = typed === undefined ? null : await verifyPasskey(app, typed, challengeCookie, client);
  if (passkey !== null && passkey.userId !== user.id) throw refusedPasskey();
  const byProvider = !password && hasCode(codes) && (await isProviderConfirmed(app, app.db, principal));
  if (!password && !byProvider && passkey === null) throw invalid({ password: message('enter_password') });
  const proven = password
    ? await confirmPassword(app, principal, { field: 'password', password, wrong }, client)
    : null;

  const token = await app.db.transaction(async (tx) => {
    await lockUser(tx, user.id);
    if (proven !== null && (await readPasswordHash(tx, user.id)) !== proven)
      throw new AppError('UNAUTHENTICATED', wrong);
    if (byProvider && !(await isProviderConfirmed(app, tx, principal)))
      throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
    const right =
      passkey !== null
        ? await takePasskey(app, tx, passkey, client)
        : !principal.hasFactor || (await takeOwnCode(app, tx, principal, { codes, client }));
    if (!right) return null;

    const renewed = await renewSession(tx, {
      userId: user.id,
      sessionId,
      freshAt: app.now(),
      byFactor: principal.hasFactor || passkey !== null,
      forReview: proven !== null && principal.reviewPending,
    });
    if (renewed === null) throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
    await recordAudit(tx, app.now(), { action: 'signed-in-again', actorId: user.id, userId: user.id, client });
    return renewed;
  });
  if (token === null) throw passkey === null ? wrongCode() : refusedPasskey();
  return token;
}

/** Whether the user of the session has just come back from the identity provider, so that only a code is missing. */
export async function isProviderConfirmed(
  app: App,
  db: Executor,
  { sessionId }: Pick<UserPrincipal, 'sessionId'>,
): Promise<boolean> {
  const isOpen = and(eq(sessions.id, sessionId), gt(sessions.providerConfirmedUntil, app.now()));
  return (await db.$count(sessions, isOpen)) > 0;
}

/**
 * Takes a code of a user who has a second factor, whose row the caller has locked. Returns whether it was right.
 *
 * @throws AppError SECOND_FACTOR_REQUIRED, with `methods`, without a code; TOO_MANY.
 */
async function takeOwnCode(
  app: App,
  tx: Transaction,
  { user: { id: userId } }: UserPrincipal,
  { codes, client }: { codes: TypedCodes; client: Client },
): Promise<boolean> {
  if (!hasCode(codes)) {
    const methods = await usableMethods(app, tx, userId);
    throw new AppError('SECOND_FACTOR_REQUIRED', message('enter_second_factor'), { facts: { methods } });
  }
  const browserHash = await knownBrowserHash(app, tx, { userId, token: client.knownBrowser });
  return takeCode(app, tx, { userId, codes, browserHash, client });
}

/** Whether the user of the session signed in, or did so again, in the last 15 minutes. */
export function isFresh(app: App, { freshUntil }: Pick<UserPrincipal, 'freshUntil'>): boolean {
  return freshUntil !== null && freshUntil > app.now();
}

/** @throws AppError FRESH_SIGN_IN_REQUIRED unless the session is fresh. */
export function requireFresh(app: App, principal: Pick<UserPrincipal, 'freshUntil'>): void {
  if (!isFresh(app, principal)) throw new AppError('FRESH_SIGN_IN_REQUIRED', message('confirm_user'));
}

/** What a form asks for that needs a fresh sign-in. It replaces one, for what the form does. */
export const confirmation = { password: z.string({ error: zodMessage('enter_password') }).optional(), ...codeFields };

type Confirmation = { password?: string | undefined } & TypedCodes;

/**
 * Confirms that the session is used by its owner, before what a copied cookie could turn into lasting power: by the
 * password, and a code where the user has a second factor, where the form holds them, else by a fresh session.
 *
 * @throws AppError UNAUTHENTICATED, with the field `password`, if the password is wrong, or if the code is; VALIDATION if
 *   the password is empty; FRESH_SIGN_IN_REQUIRED without one in a session that is not fresh; SECOND_FACTOR_REQUIRED
 *   without the code there; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function confirmUser(
  app: App,
  principal: UserPrincipal,
  { password, totp, recovery_code }: Confirmation,
  client: Client,
): Promise<void> {
  if (!password) requireFresh(app, principal);
  if (password === undefined) return;
  // The form asks for it although the session is fresh, before what cannot be undone.
  if (password === '') throw invalid({ password: message('enter_password') });
  await confirmPassword(app, principal, { field: 'password', password }, client);
  if (!principal.hasFactor || isFresh(app, principal)) return;

  const right = await app.db.transaction(async (tx) => {
    await lockUser(tx, principal.user.id);
    return takeOwnCode(app, tx, principal, { codes: { totp, recovery_code }, client });
  });
  if (!right) throw wrongCode();
}

/**
 * Whether a password may be set without the current one: in a fresh session of a user who has none, and right after a
 * sign-in through the identity that is still linked, because its user may have lost the password. Not by that way while a
 * review is open: it asks whether the identity is the user's own.
 */
export async function maySetPassword(app: App, db: Executor, principal: UserPrincipal): Promise<boolean> {
  const since = new Date(app.now().getTime() - freshMilliseconds);
  const [recent] = await db
    .select({ id: sessions.id })
    .from(sessions)
    .innerJoin(identities, and(eq(identities.userId, sessions.userId), eq(identities.subject, sessions.idpSubject)))
    .innerJoin(users, and(eq(users.id, sessions.userId), isNull(users.reviewSince)))
    .where(and(eq(sessions.id, principal.sessionId), gt(sessions.createdAt, since), isNull(identities.unlinkedAt)));
  if (recent !== undefined) return true;
  return isFresh(app, principal) && (await readPasswordHash(db, principal.user.id)) === null;
}
