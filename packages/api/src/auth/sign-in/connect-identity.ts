import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { identities } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import type { Client } from '../../platform/security/client.ts';
import { userHasFactor } from '../factors/has-factor.ts';
import { type Account, accountById, lockUser } from '../sessions/account.ts';
import { doesSessionExist, renewSession } from '../sessions/session.ts';
import type { Identity } from './id-token.ts';
import { findIdentity, linkIdentity } from './match-user.ts';

/**
 * Links an identity to the user who started the attempt. A subject that this user unlinked is linked
 * again.
 *
 * @throws Error if the user's session has ended, the subject belongs to another user, the user has
 *   another linked subject, or the account was deleted meanwhile.
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
    await linkIdentity(tx, now, { ...identity, userId, countsAsFactor: true });
  } else if (known.unlinkedAt !== null) {
    const { issuer, subject, email } = identity;
    await tx
      .update(identities)
      .set({ unlinkedAt: null, linkedAt: now, email, countsAsFactor: true })
      .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)));
  }
  const account = await accountById(tx, userId);
  if (account === null) throw new Error('the account was deleted meanwhile');
  await recordAudit(tx, now, {
    action: 'identity-linked',
    actorId: userId,
    userId,
    organisationId: account.organisationId,
    client,
  });
  return account;
}

/**
 * Makes the session fresh by the identity with which its user has just come back from the provider. Where the account
 * has a second factor, it becomes fresh by a code or passkey within ten minutes (see `signInFresh`).
 *
 * @returns the session's new token.
 * @throws Error if the identity is not the one that is connected to the account, or the session has ended.
 */
export async function confirmIdentity(
  app: App,
  { issuer, subject }: Identity,
  { userId, sessionId }: { userId: string; sessionId: string },
  client: Client,
): Promise<{ token: string; waitsForCode: boolean }> {
  return app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    const isTheirs = and(eq(identities.userId, userId), isNull(identities.unlinkedAt));
    const isSame = and(eq(identities.issuer, issuer), eq(identities.subject, subject));
    if ((await tx.$count(identities, and(isTheirs, isSame))) === 0) throw new Error('the subject is another one');

    // A provider makes no session fresh where the account has a factor: a code or passkey completes it.
    const waits = await userHasFactor(tx, userId);
    const token = await renewSession(tx, { userId, sessionId, ...(!waits && { freshAt: app.now() }) });
    if (token === null) throw new Error('the session has ended');
    if (waits) {
      const providerConfirmedUntil = new Date(app.now().getTime() + 10 * minuteMilliseconds);
      await tx.update(sessions).set({ providerConfirmedUntil }).where(eq(sessions.id, sessionId));
      return { token, waitsForCode: true };
    }
    await recordAudit(tx, app.now(), { action: 'signed-in-again', actorId: userId, userId, client });
    return { token, waitsForCode: false };
  });
}
