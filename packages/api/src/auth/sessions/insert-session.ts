import { and, desc, eq, gt, isNull, notInArray, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { auditRow, auditValues } from '../../audit/record.ts';
import { accountStatusOf } from '../../organisations/account-status.ts';
import { type Executor, prepared, type Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { transactSendingLast } from '../../platform/db/send-with-commit.ts';
import { AppError, isAppError } from '../../platform/errors.ts';
import { insertInOneStatement, maxSessions } from './insert-in-one-statement.ts';
import { browserParts } from './known-browser.ts';

/**
 * Runs what proves a user's identity, and counts the sign-in by its outcome: ok, the code of the AppError, or failed.
 *
 * @throws what the proof throws.
 */
export async function countSignIn<Result>(
  { metrics }: App,
  way: 'password' | 'identity_provider',
  prove: () => Promise<Result>,
): Promise<Result> {
  let outcome = 'ok';
  try {
    return await prove();
  } catch (error) {
    outcome = isAppError(error) ? error.code.toLowerCase() : 'failed';
    throw error;
  } finally {
    metrics.count('gatehouse_sign_ins_total', { way, outcome });
  }
}

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
  /** The hash of the browser's token in the cookie `known`; null if the session is not a browser's. */
  browserHash: string | null;
};

/**
 * Inserts a session and records the sign-in, unless the account or its credentials have changed
 * since the user proved them. The user's row is locked: a concurrent change of the password or
 * closing of the account either commits first and is seen here, or waits and ends the session.
 * Sign-ins of one user also run in turn, so that the user never has more than 50 sessions: the
 * oldest end. Most sign-ins with a password take one statement (docs/decisions/045).
 *
 * @throws AppError UNAUTHENTICATED if the account is deleted or not verified, or no longer has
 *   the password or the subject; FORBIDDEN if it is closed.
 */
export async function insertSession(app: App, newSession: NewSession): Promise<void> {
  const { userId, organisationId, passwordHash, idpSubject, client, userAgent, browserHash, ...session } = newSession;
  const now = app.now();
  const sessionId = newId(now);
  const entryFor = (organisationId: string | null) =>
    auditValues(now, {
      action: 'signed-in',
      actorId: userId,
      userId,
      organisationId,
      client: { address: client, userAgent },
      details: methodOf({ passwordHash, idpSubject }),
    });

  if (passwordHash !== null && idpSubject === null && organisationId !== null) {
    const entry = entryFor(organisationId);
    const values = { ...session, userId, organisationId, passwordHash, sessionId, browserHash, entry, now };
    if (await insertInOneStatement(app.db, values)) return;
  }

  await transactSendingLast(app.db, async (tx, sendLast) => {
    const [locked] = await lockedAccount(tx).execute({ userId, organisationId });
    const isUnchanged =
      locked !== undefined &&
      (passwordHash === null || locked.user.passwordHash === passwordHash) &&
      (idpSubject === null || (await isLinked(tx, userId, idpSubject)));
    if (!isUnchanged) throw new AppError('UNAUTHENTICATED', 'E-mail or password is wrong.');
    const { user, organisation } = locked;
    const accountStatus = accountStatusOf(user, organisation);
    if (accountStatus === 'closed') throw new AppError('FORBIDDEN', 'This account is closed.');
    if (accountStatus === 'unverified') throw new AppError('UNAUTHENTICATED', 'E-mail or password is wrong.');

    const values = { ...session, ...entryFor(organisation?.id ?? null), sessionId, idpSubject, now };
    const written =
      browserHash === null
        ? insertion(tx).execute(values)
        : insertionWithBrowser(tx).execute({ ...values, browserHash });
    await sendLast(written);
  });
}

/**
 * Locks the user before the organisation, in the order of every transaction (see lockUser): PostgreSQL reads the
 * left side of a LEFT JOIN without a condition first. It may swap the sides of an inner join.
 */
const lockedAccount = prepared((db) => {
  const user = db.$with('locked_user').as(
    db
      .select({
        passwordHash: users.passwordHash,
        emailVerifiedAt: users.emailVerifiedAt,
        suspendedAt: users.suspendedAt,
        invitedOnly: users.invitedOnly,
      })
      .from(users)
      .where(eq(users.id, sql.placeholder('userId')))
      .for('no key update'),
  );
  const organisation = db.$with('locked_organisation').as(
    db
      .select({ id: organisations.id, approval: organisations.approval, suspendedAt: organisations.suspendedAt })
      .from(organisations)
      .where(eq(organisations.id, sql.placeholder('organisationId')))
      .for('share'),
  );
  return db
    .with(user, organisation)
    .select({
      user: {
        passwordHash: user.passwordHash,
        emailVerifiedAt: user.emailVerifiedAt,
        suspendedAt: user.suspendedAt,
        invitedOnly: user.invitedOnly,
      },
      organisation: { id: organisation.id, approval: organisation.approval, suspendedAt: organisation.suspendedAt },
    })
    .from(user)
    .leftJoin(organisation, sql`true`)
    .prepare('session_account');
});

/** Inserts the session and its audit entry, and ends all but the user's newest 49 that have not expired. */
const insertion = prepared((db) => {
  const { inserted, oldestDeleted } = sessionParts(db);
  return db.with(oldestDeleted, inserted).insert(auditEvents).values(auditRow).prepare('session_insert');
});

/** As `insertion`, and remembers the browser. */
const insertionWithBrowser = prepared((db) => {
  const { inserted, oldestDeleted } = sessionParts(db);
  const browser = browserParts(db);
  const stored = db.$with('browser').as(browser.stored);
  const oldestBrowsersDeleted = db.$with('oldest_browsers').as(browser.oldestDeleted);
  return db
    .with(oldestDeleted, inserted, stored, oldestBrowsersDeleted)
    .insert(auditEvents)
    .values(auditRow)
    .prepare('session_insert_browser');
});

/** The deletion does not see the row of the same statement. */
function sessionParts(db: Executor) {
  const isTheirs = eq(sessions.userId, sql.placeholder('userId'));
  const kept = db
    .select({ idHash: sessions.idHash })
    .from(sessions)
    .where(and(isTheirs, gt(sessions.expiresAt, sql.param(sql.placeholder('now'), sessions.expiresAt))))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(maxSessions - 1);
  const oldestDeleted = db.$with('oldest_sessions').as(
    db
      .delete(sessions)
      .where(and(isTheirs, notInArray(sessions.idHash, kept)))
      .returning({ id: sessions.id }),
  );
  const inserted = db.$with('session').as(
    db
      .insert(sessions)
      .values({
        idHash: sql.placeholder('idHash'),
        id: sql.placeholder('sessionId'),
        userId: sql.placeholder('userId'),
        organisationId: sql.placeholder('organisationId'),
        idpSubject: sql.placeholder('idpSubject'),
        createdAt: sql.placeholder('now'),
        expiresAt: sql.placeholder('expiresAt'),
        userAgent: sql.placeholder('userAgent'),
        client: sql.placeholder('client'),
      })
      .returning({ id: sessions.id }),
  );
  return { inserted, oldestDeleted };
}

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
