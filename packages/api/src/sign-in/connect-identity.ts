import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { confirmUser } from '../accounts/password/confirm-user.ts';
import { lockUser } from '../accounts/profile/lock-user.ts';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { identities } from '../db/schema/accounts.ts';
import { AppError } from '../errors.ts';
import type { Client } from '../security/client.ts';
import { type Account, accountById } from '../sessions/account.ts';
import type { Approved } from '../sessions/authorisation.ts';
import { doesSessionExist } from '../sessions/existing-session.ts';
import type { Identity } from './id-token.ts';
import { findIdentity, identitiesOf, linkIdentity } from './linked-identity.ts';
import { startSignIn } from './start-sign-in.ts';

/** Required if the account has a password. Otherwise a recent sign-in is required. */
export const connectIdentityInput = z.object({ password: z.string({ error: 'Enter your password.' }).optional() });

/**
 * Starts an attempt that connects the identity provider with a signed-in user's account. Only this
 * user's session can finish it. The user is confirmed by the password, or by a recent sign-in if
 * there is none, because the connected subject can sign in and set a new password.
 *
 * @returns the URL of the provider's consent screen and the cookie of the attempt.
 * @throws AppError VALIDATION if the feature is off or a subject is linked; UNAUTHENTICATED if the
 *   password is wrong; FORBIDDEN if the sign-in is not recent; TOO_MANY; INTERNAL
 *   without a canonical base URL.
 */
export async function startConnecting(
  app: App,
  principal: Approved,
  { password }: z.output<typeof connectIdentityInput>,
  client: Client,
) {
  await confirmUser(app, principal, password, client);
  const linked = (await identitiesOf(app.db, principal.user.id)).some(({ unlinkedAt }) => unlinkedAt === null);
  if (linked) throw new AppError('VALIDATION', 'Your account is connected already.');

  const started = await startSignIn(app, { attemptCookie: null, userId: principal.user.id }, client);
  if (started === null) throw new AppError('VALIDATION', 'This deployment has no identity provider.');
  return started;
}

/**
 * Links an identity to the user who started the attempt. A subject that this user unlinked is linked
 * again.
 *
 * @throws Error if the user's session has ended, the subject belongs to another user, or the user
 *   has another linked subject.
 */
export async function connectIdentity(
  app: App,
  tx: Transaction,
  identity: Identity,
  { userId, sessionId, client }: { userId: string; sessionId: string; client: Client },
): Promise<Account> {
  const now = app.now();
  await lockUser(tx, userId);
  // The session may have ended at the provider's pages: a password change ends other sessions.
  if (!(await doesSessionExist(tx, { userId, sessionId }))) throw new Error('the session has ended');
  const known = await findIdentity(tx, identity);
  if (known !== null && known.userId !== userId) throw new Error('the subject belongs to another account');

  if (known === null) {
    await linkIdentity(tx, now, { ...identity, userId });
  } else if (known.unlinkedAt !== null) {
    const { issuer, subject } = identity;
    await tx
      .update(identities)
      .set({ unlinkedAt: null, linkedAt: now })
      .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)));
  }
  const person = await accountById(tx, userId);
  if (person === null) throw new Error('the account was deleted meanwhile');
  await recordAudit(tx, now, {
    action: 'identity-linked',
    actorId: userId,
    userId,
    organisationId: person.organisationId,
    client,
  });
  return person;
}
