import { and, eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { identities } from '../../platform/db/schema/accounts.ts';
import type { Client } from '../../platform/security/client.ts';
import { lockUser } from '../profile/lock-user.ts';
import { type Account, accountById } from '../sessions/account.ts';
import { doesSessionExist } from '../sessions/session.ts';
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
    await linkIdentity(tx, now, { ...identity, userId });
  } else if (known.unlinkedAt !== null) {
    const { issuer, subject, email } = identity;
    await tx
      .update(identities)
      .set({ unlinkedAt: null, linkedAt: now, email })
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
