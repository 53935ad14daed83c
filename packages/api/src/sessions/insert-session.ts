import { and, desc, eq, gt, isNull, notInArray, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { prepared, type Transaction } from '../db/client.ts';
import { newId } from '../db/id.ts';
import { identities, users } from '../db/schema/accounts.ts';
import { organisations } from '../db/schema/organisations.ts';
import { sessions } from '../db/schema/sessions.ts';
import { transactSendingLast } from '../db/send-with-commit.ts';
import { AppError } from '../errors.ts';
import { accountStatusOf } from '../organisations/account-status.ts';
import { rememberBrowser } from './known-browser.ts';

/** The maximum number of sessions of a user. */
const maxSessions = 50;

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

  await transactSendingLast(app.db, async (tx, sendLast) => {
    // The user is locked before the organisation, in the order of every transaction (see lockUser).
    const [[user], [organisation = null]] = await Promise.all([
      lockedUser(tx).execute({ userId }),
      organisationId === null ? [] : lockedOrganisation(tx).execute({ organisationId }),
    ]);
    const isUnchanged =
      user !== undefined &&
      (passwordHash === null || user.passwordHash === passwordHash) &&
      (idpSubject === null || (await isLinked(tx, userId, idpSubject)));
    if (!isUnchanged) throw new AppError('UNAUTHENTICATED', 'E-mail or password is wrong.');
    const accountStatus = accountStatusOf(user, organisation);
    if (accountStatus === 'closed') throw new AppError('FORBIDDEN', 'This account is closed.');
    if (accountStatus === 'unverified') throw new AppError('UNAUTHENTICATED', 'E-mail or password is wrong.');

    const owner = { userId, organisationId: organisation?.id ?? null };
    const values = { ...session, ...owner, id: newId(now), client, userAgent, idpSubject, createdAt: now };
    const written = [
      deletionOfOldest(tx).execute({ userId, now: now.toISOString() }),
      insertion(tx).execute(values),
      browserToken === null ? null : rememberBrowser(app, tx, userId, browserToken),
      recordAudit(tx, now, {
        action: 'signed-in',
        actorId: userId,
        ...owner,
        client: { address: client, userAgent },
        details: methodOf({ passwordHash, idpSubject }),
      }),
    ];
    await sendLast(Promise.all(written));
  });
}

const lockedUser = prepared((db) =>
  db
    .select()
    .from(users)
    .where(eq(users.id, sql.placeholder('userId')))
    .for('no key update')
    .prepare('session_user'),
);

const lockedOrganisation = prepared((db) =>
  db
    .select()
    .from(organisations)
    .where(eq(organisations.id, sql.placeholder('organisationId')))
    .for('share')
    .prepare('session_organisation'),
);

/** Makes room for one more session: ends all but the newest 49 that have not expired. */
const deletionOfOldest = prepared((db) => {
  const isTheirs = eq(sessions.userId, sql.placeholder('userId'));
  const kept = db
    .select({ idHash: sessions.idHash })
    .from(sessions)
    .where(and(isTheirs, gt(sessions.expiresAt, sql`${sql.placeholder('now')}::timestamptz`)))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(maxSessions - 1);
  return db
    .delete(sessions)
    .where(and(isTheirs, notInArray(sessions.idHash, kept)))
    .prepare('session_oldest');
});

const insertion = prepared((db) =>
  db
    .insert(sessions)
    .values({
      idHash: sql.placeholder('idHash'),
      id: sql.placeholder('id'),
      userId: sql.placeholder('userId'),
      organisationId: sql.placeholder('organisationId'),
      idpSubject: sql.placeholder('idpSubject'),
      createdAt: sql.placeholder('createdAt'),
      expiresAt: sql.placeholder('expiresAt'),
      userAgent: sql.placeholder('userAgent'),
      client: sql.placeholder('client'),
    })
    .prepare('session_insert'),
);

async function isLinked(tx: Transaction, userId: string, subject: string): Promise<boolean> {
  const isOwn = and(eq(identities.userId, userId), eq(identities.subject, subject));
  return (await tx.$count(identities, and(isOwn, isNull(identities.unlinkedAt)))) > 0;
}

function methodOf({
  passwordHash,
  idpSubject,
}: Pick<NewSession, 'passwordHash' | 'idpSubject'>): Record<string, string> {
  if (idpSubject !== null) return { with: 'identity provider' };
  return passwordHash === null ? {} : { with: 'password' };
}
