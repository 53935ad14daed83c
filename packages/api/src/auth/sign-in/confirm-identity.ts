import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { identities } from '../../platform/db/schema/accounts.ts';
import type { Client } from '../../platform/security/client.ts';
import { lockUser } from '../profile/lock-user.ts';
import { renewSession } from '../sessions/session.ts';
import type { Identity } from './id-token.ts';

/**
 * Makes the session fresh by the identity with which its user has just come back from the provider.
 *
 * @returns the session's new token.
 * @throws Error if the identity is not the one that is connected to the account, or the session has ended.
 */
export async function confirmIdentity(
  app: App,
  { issuer, subject }: Identity,
  { userId, sessionId }: { userId: string; sessionId: string },
  client: Client,
): Promise<string> {
  return app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    const isTheirs = and(eq(identities.userId, userId), isNull(identities.unlinkedAt));
    const isSame = and(eq(identities.issuer, issuer), eq(identities.subject, subject));
    if ((await tx.$count(identities, and(isTheirs, isSame))) === 0) throw new Error('the subject is another one');

    const token = await renewSession(tx, { userId, sessionId, freshAt: app.now() });
    if (token === null) throw new Error('the session has ended');
    await recordAudit(tx, app.now(), { action: 'signed-in-again', actorId: userId, userId, client });
    return token;
  });
}
