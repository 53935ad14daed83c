import { and, desc, eq, gt, isNull, notInArray } from 'drizzle-orm';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { newId } from '../db/id.ts';
import { identities, users } from '../db/schema/accounts.ts';
import { organisations } from '../db/schema/organisations.ts';
import { sessions } from '../db/schema/sessions.ts';
import { AppError } from '../errors.ts';
import { accountStatusOf } from '../organisations/account-status.ts';
import { rememberBrowser } from './known-browser.ts';

/** The most sessions that a user has at a time. */
export const mostSessions = 50;

type NewSession = {
  idHash: string;
  userId: string;
  organisationId: string | null;
  /** The hash that the user's password matched; null for a sign-in without a password. */
  passwordHash: string | null;
  /** The subject that the identity provider confirmed; null for a sign-in without it. */
  idpSubject: string | null;
  expiresAt: Date;
  client: string;
  userAgent: string | null;
  /** The token of the browser's cookie `known`; null if the session is not a browser's. */
  browserToken: string | null;
};

/**
 * Inserts a session and records the sign-in, unless the account or its credentials have changed
 * since the user proved them. The user's row is locked: a concurrent change of the password or
 * closing of the account either commits first and is seen here, or waits and ends the session.
 * Sign-ins of one user also run in turn, so that the user never has more than 50 sessions: the
 * oldest end.
 *
 * @throws AppError UNAUTHENTICATED if the account is deleted or not verified, or no longer has
 *   the password or the subject; FORBIDDEN if it is closed.
 */
export async function insertSession(app: App, newSession: NewSession): Promise<void> {
  const { userId, organisationId, passwordHash, idpSubject, client, userAgent, browserToken, ...session } = newSession;
  const now = app.now();

  await app.db.transaction(async (tx) => {
    // Everywhere, the user is locked before the organisation.
    const [user] = await tx.select().from(users).where(eq(users.id, userId)).for('no key update');
    const organisation = organisationId === null ? null : await lockOrganisationShared(tx, organisationId);
    const isUnchanged =
      user !== undefined &&
      (passwordHash === null || user.passwordHash === passwordHash) &&
      (idpSubject === null || (await isLinked(tx, userId, idpSubject)));
    if (!isUnchanged) throw new AppError('UNAUTHENTICATED', 'E-mail or password is wrong.');
    const accountStatus = accountStatusOf(user, organisation);
    if (accountStatus === 'closed') throw new AppError('FORBIDDEN', 'This account is closed.');
    if (accountStatus === 'unverified') throw new AppError('UNAUTHENTICATED', 'E-mail or password is wrong.');

    await endOldest(tx, userId, now);
    const owner = { userId, organisationId: organisation?.id ?? null };
    const values = { ...session, ...owner, id: newId(now), client, userAgent, idpSubject, createdAt: now };
    await tx.insert(sessions).values(values);
    if (browserToken !== null) await rememberBrowser(app, tx, userId, browserToken);
    await recordAudit(tx, now, {
      action: 'signed-in',
      actorId: userId,
      ...owner,
      client: { address: client, userAgent },
      details: methodOf({ passwordHash, idpSubject }),
    });
  });
}

/** Makes room for one more session: ends all but the newest 49 that have not expired. */
async function endOldest(tx: Transaction, userId: string, now: Date): Promise<void> {
  const kept = tx
    .select({ idHash: sessions.idHash })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, now)))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(mostSessions - 1);
  await tx.delete(sessions).where(and(eq(sessions.userId, userId), notInArray(sessions.idHash, kept)));
}

async function isLinked(tx: Transaction, userId: string, subject: string): Promise<boolean> {
  const isOwn = and(eq(identities.userId, userId), eq(identities.subject, subject));
  return (await tx.$count(identities, and(isOwn, isNull(identities.unlinkedAt)))) > 0;
}

async function lockOrganisationShared(tx: Transaction, id: string) {
  const [organisation] = await tx.select().from(organisations).where(eq(organisations.id, id)).for('share');
  return organisation ?? null;
}

function methodOf({
  passwordHash,
  idpSubject,
}: Pick<NewSession, 'passwordHash' | 'idpSubject'>): Record<string, string> {
  if (idpSubject !== null) return { with: 'identity provider' };
  return passwordHash === null ? {} : { with: 'password' };
}
