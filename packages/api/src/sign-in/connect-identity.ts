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
import { type Principal, requireApproved } from '../sessions/principal.ts';
import { sessionLives } from '../sessions/session-lives.ts';
import type { Identity } from './id-token.ts';
import { findIdentity, identitiesOf, linkIdentity } from './linked-identity.ts';
import { startSignIn } from './start-sign-in.ts';

/** Asked for where there is one; without one a fresh sign-in is asked for. */
export const connectIdentityInput = z.object({ password: z.string({ error: 'Enter your password.' }).optional() });

/**
 * Starts to connect the identity provider with the account of a signed-in user: an attempt
 * that only this user's session can finish. It asks for the password, because the subject
 * becomes a way into the account, by which a new password can be set; where there is none, for
 * a sign-in of the last quarter of an hour.
 *
 * @returns the provider's consent screen and the cookie of the attempt.
 * @throws AppError VALIDATION where the feature is off or a subject is linked; UNAUTHENTICATED
 *   for a wrong password; FORBIDDEN where the sign-in is too long ago; TOO_MANY.
 */
export async function startConnecting(
  app: App,
  principal: Principal | null,
  { password }: z.output<typeof connectIdentityInput>,
  client: Client,
) {
  const who = requireApproved(principal);
  await confirmUser(app, who, password, client);
  const linked = (await identitiesOf(app.db, who.user.id)).some(({ unlinkedAt }) => unlinkedAt === null);
  if (linked) throw new AppError('VALIDATION', 'Your account is connected already.');

  const started = await startSignIn(app, { attemptCookie: null, userId: who.user.id }, client);
  if (started === null) throw new AppError('VALIDATION', 'This deployment has no identity provider.');
  return started;
}

/**
 * Connects an identity with the user who asked for it, also one that the user unlinked.
 *
 * @throws where the session of the user has ended meanwhile, the subject belongs to another
 *   user, or the user has another one linked.
 */
export async function connectIdentity(
  app: App,
  tx: Transaction,
  identity: Identity,
  { userId, sessionId, client }: { userId: string; sessionId: string; client: Client },
): Promise<Account> {
  const now = app.now();
  await lockUser(tx, userId);
  // The provider took its time, and a new password ends what other sessions began.
  if (!(await sessionLives(tx, { userId, sessionId }))) throw new Error('the session has ended');
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
  if (person === null) throw new Error('the account is gone');
  await recordAudit(tx, now, {
    action: 'identity-linked',
    actorId: userId,
    userId,
    organisationId: person.organisationId,
    client,
  });
  return person;
}
