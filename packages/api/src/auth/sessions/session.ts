import { and, desc, eq, gt, isNotNull, isNull, lt, ne, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { accountStatusOf } from '../../organisations/account-status.ts';
import { type Executor, prepared, type Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { writeIfPossible } from '../../platform/db/write-if-possible.ts';
import { hourMilliseconds, minuteMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { hashToken, newToken } from '../../platform/security/token.ts';
import { missingFactor } from '../factors/who-must.ts';
import { makePrincipal, type Principal, type UserPrincipal } from '../principal.ts';
import { lockUnchangedAccount } from './account.ts';
import { rememberBrowser } from './known-browser.ts';
import { lucia } from './lucia.ts';

/** The maximum number of sessions of a user, and of those that wait for their second step. */
const maxSessions = 50;
const maxWaiting = 5;

type Start = {
  userId: string;
  organisationId: string | null;
  /** The hash that the password matched; null for a sign-in without a password. */
  passwordHash?: string | null;
  /** The subject that the identity provider confirmed; null for a sign-in without it. */
  idpSubject?: string | null;
  /** Whether the session begins fresh: by default after a sign-in with a password. */
  fresh?: boolean;
  /** Whether the sign-in was with a factor of the account's own. */
  freshByFactor?: boolean;
  /** Whether the sign-in was by a passkey alone. */
  byPasskey?: boolean;
  /** Whether an identity of the provider was its second factor. */
  identityFactor?: boolean;
  /** The second step that the session waits for, with its end; null for one that opens. */
  waitsFor?: { stepHash: string; endsAt: Date } | null;
  /** The hash of the browser's token in the cookie `known`, from `tokenForBrowser`. */
  browserHash?: string | null;
  client: Client;
};

/**
 * Starts a session of a user whose account has no second factor, and returns its token. `openSession` decides for all
 * others.
 *
 * The user's row is locked first. So a concurrent change of the password or closing of the account either
 * commits before and is seen here, or waits and ends the session; and sign-ins of one user run in turn.
 *
 * @throws AppError UNAUTHENTICATED if the account is deleted or not verified, or its password was
 *   changed or its subject unlinked since the user proved it; FORBIDDEN if it is closed; SECOND_FACTOR_REQUIRED.
 */
export function startSession(app: App, start: Start): Promise<string> {
  return app.db.transaction(async (tx) => {
    const account = await lockUnchangedAccount(tx, { passwordHash: null, idpSubject: null, ...start });
    if (account.hasFactor) throw new AppError('SECOND_FACTOR_REQUIRED', message('enter_second_factor'));
    return insertSession(app, tx, { ...start, organisationId: account.organisationId });
  });
}

/**
 * Inserts a session, records the sign-in and returns the session's token. Only the browser has the token: the
 * table holds its hash. A user has at most 50 sessions, and five that wait for their second step: the oldest end. The
 * caller has locked the account by `lockUnchangedAccount`.
 */
export async function insertSession(
  app: App,
  tx: Transaction,
  { browserHash = null, client, ...start }: Start,
): Promise<string> {
  const { userId, organisationId, passwordHash = null, idpSubject = null, fresh = passwordHash !== null } = start;
  const { freshByFactor = false, byPasskey = false, identityFactor = false, waitsFor = null } = start;
  const token = newToken();
  const now = app.now();

  await (waitsFor === null ? oldestSessionsDeleted : oldestWaitingDeleted)(tx).execute({
    userId,
    now: now.toISOString(),
  });
  const userAgent = client.userAgent?.slice(0, 300) ?? null;
  const freshUntil = fresh ? freshUntilFrom(now) : null;
  const proof = { freshUntil, freshByFactor, byPasskey, identityFactor };
  const attributes = { id: newId(now), organisationId, idpSubject, ...proof, waitsFor };
  await lucia(app, tx).createSession(
    userId,
    { ...attributes, userAgent, client: client.address },
    { sessionId: token },
  );
  // The sign-in is complete, and recorded, once the second step is done.
  if (waitsFor !== null) return token;

  if (browserHash !== null) await rememberBrowser(tx, { userId, browserHash, userAgent, client: client.address, now });
  const method =
    idpSubject !== null ? 'identity provider' : byPasskey ? 'passkey' : passwordHash !== null ? 'password' : null;
  const details: Record<string, string> = method === null ? {} : { with: method };
  await recordAudit(tx, now, { action: 'signed-in', actorId: userId, userId, organisationId, client, details });
  return token;
}

/** For this long a sign-in is fresh. */
export const freshMilliseconds = 15 * minuteMilliseconds;

/** Returns until when a sign-in of that moment is fresh. */
function freshUntilFrom(now: Date): Date {
  return new Date(now.getTime() + freshMilliseconds);
}

/** Ends a user's expired sessions, and the oldest ones that leave no room for another. */
const oldestSessionsDeleted = prepared((db) =>
  deleteOldest(db, isNull(sessions.stepHash), maxSessions, 'session_oldest'),
);
const oldestWaitingDeleted = prepared((db) =>
  deleteOldest(db, isNotNull(sessions.stepHash), maxWaiting, 'step_oldest'),
);

function deleteOldest(db: Executor, kind: SQL, most: number, name: string) {
  const isTheirs = and(eq(sessions.userId, sql.placeholder('userId')), kind);
  const kept = db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(isTheirs, gt(sessions.expiresAt, sql.placeholder('now'))))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(most - 1);
  return db
    .delete(sessions)
    .where(and(isTheirs, notInArray(sessions.id, kept)))
    .prepare(name);
}

type Reading = {
  /** Writes nothing: neither is the session extended or its use recorded, nor do sessions of a closed account end. */
  readOnly?: boolean;
};

/** What a session's token presents: a principal, a session that waits for its second step, or nothing. */
export type PresentedSession = { principal: UserPrincipal | null; waits: boolean };

/**
 * Returns the principal of a session. Its role, gates and plan are read for each call, by one query. Null if the session is unknown, expired or ended, or if the
 * account is closed: then all sessions of the user end.
 */
export async function readSession(
  app: App,
  sessionToken: string,
  reading: Reading = {},
): Promise<UserPrincipal | null> {
  return (await readByToken(app, 'idHash', sessionToken, reading)).principal;
}

/** Also tells a session that waits for its second step, which has no principal, from one that is none. */
export function readPresentedSession(app: App, token: string, reading: Reading = {}): Promise<PresentedSession> {
  return readByToken(app, 'idHash', token, reading);
}

/** Returns the principal of a session by its shared token, for the requests of a product (http/open-request.ts). */
export async function readSharedSession(
  app: App,
  sharedToken: string,
  reading: Reading = {},
): Promise<UserPrincipal | null> {
  return (await readByToken(app, 'sharedHash', sharedToken, reading)).principal;
}

async function readByToken(
  app: App,
  token: 'idHash' | 'sharedHash',
  presented: string,
  { readOnly = false }: Reading,
): Promise<PresentedSession> {
  const auth = lucia(app, app.db, { token, readOnly, forReading: true });
  const { user: row } = await auth.validateSession(presented);
  if (row === null) return noSession;

  const { user, organisation, session, planRow } = row;
  const accountStatus = accountStatusOf(user, organisation);
  if (accountStatus === 'closed' || accountStatus === 'unverified') {
    await auth.invalidateUserSessions(user.id);
    return noSession;
  }
  if (session.stepHash !== null) return { principal: null, waits: true };

  const idleMilliseconds = app.now().getTime() - session.lastUsedAt.getTime();
  if (user.operator && idleMilliseconds >= operatorIdleMilliseconds) {
    await auth.invalidateSession(presented);
    return noSession;
  }

  if (!readOnly && idleMilliseconds >= useMilliseconds) await recordUse(app, session);
  if (!readOnly && organisation !== null) await recordSeen(app, user.id, organisation);
  const hasFactor = user.hasPasskey || user.hasTotp;
  const principal = makePrincipal({
    user,
    organisation: organisation && { id: organisation.id, slug: organisation.slug, name: organisation.name },
    role: organisation?.role ?? null,
    accountStatus,
    factorMissing:
      accountStatus === 'active'
        ? missingFactor(app, {
            operator: user.operator,
            hasFactor,
            identityFactor: session.identityFactor,
            requiredFrom: organisation?.secondFactorFrom ?? null,
          })
        : null,
    operates: user.operator && !isPast(app, user.factorDueAt),
    sessionId: session.id,
    isShared: token === 'sharedHash',
    sharedHash: session.sharedHash,
    hasPassword: user.hasPassword,
    freshUntil: session.freshUntil,
    freshByFactor: session.freshByFactor,
    byIdentity: session.idpSubject !== null,
    hasFactor,
    identityFactor: session.identityFactor,
    hasPasskey: user.hasPasskey,
    reviewPending: user.reviewSince !== null,
    planRow,
  });
  return { principal, waits: false };
}

/** Whether the time has run out in which an operator without a second factor keeps the power of the mark. */
function isPast({ config, now }: App, factorDueAt: Date | null): boolean {
  return config.secondFactor !== 'none' && factorDueAt !== null && factorDueAt <= now();
}

const noSession: PresentedSession = { principal: null, waits: false };

/** An operator's session ends after this time without a request. */
const operatorIdleMilliseconds = 12 * hourMilliseconds;

const useMilliseconds = 10 * minuteMilliseconds;

/** Stores that a session is used now. The condition is repeated: of parallel requests one writes. */
async function recordUse(app: App, { id, lastUsedAt }: { id: string; lastUsedAt: Date }): Promise<void> {
  const isUnchanged = and(eq(sessions.id, id), eq(sessions.lastUsedAt, lastUsedAt));
  await writeIfPossible(app, app.db.update(sessions).set({ lastUsedAt: app.now() }).where(isUnchanged));
}

/**
 * Stores that a user's session acts for an organisation now, at most once an hour. Per
 * membership, so that no organisation learns when a user acts for another one.
 */
async function recordSeen(
  app: App,
  userId: string,
  { id: organisationId, lastSeenAt }: { id: string; lastSeenAt: Date | null },
): Promise<void> {
  const now = app.now();
  const before = new Date(now.getTime() - hourMilliseconds);
  if (lastSeenAt !== null && lastSeenAt > before) return;

  const isTheirs = and(eq(memberships.userId, userId), eq(memberships.organisationId, organisationId));
  // The condition is repeated: of parallel requests one writes.
  const isOld = or(isNull(memberships.lastSeenAt), lt(memberships.lastSeenAt, before));
  await writeIfPossible(app, app.db.update(memberships).set({ lastSeenAt: now }).where(and(isTheirs, isOld)));
}

type Renewal = {
  userId: string;
  sessionId: string;
  freshAt?: Date;
  /** Whether that proof was with a factor of the account's own. */
  byFactor?: boolean;
  /** Whether it was with the password while a review is open, so that the session no longer rests on an identity. */
  forReview?: boolean;
};

/**
 * Replaces a session's token, so that a copy of the old one grants no access. The second token for
 * sibling hosts becomes invalid too. The session keeps its age. With `freshAt` the user has just proved
 * who they are, and the session is fresh from then on.
 *
 * @returns the new token; null if the session has ended.
 */
export async function renewSession(
  tx: Transaction,
  { userId, sessionId, freshAt, byFactor = false, forReview = false }: Renewal,
): Promise<string | null> {
  const token = newToken();
  const renewed = await tx
    .update(sessions)
    .set({
      idHash: hashToken(token),
      sharedHash: null,
      ...(freshAt !== undefined && {
        freshUntil: freshUntilFrom(freshAt),
        freshByFactor: byFactor,
        ...(byFactor && { identityFactor: false }),
        ...(forReview && { idpSubject: null }),
        providerConfirmedUntil: null,
      }),
    })
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, userId)))
    .returning({ id: sessions.id });
  return renewed.length === 0 ? null : token;
}

/**
 * Stores and returns a second token of a session, for products on sibling hosts, in place of an older one. It
 * authenticates by `readSharedSession` alone, and becomes invalid when the session ends.
 */
export async function shareSession(app: App, sessionToken: string): Promise<string> {
  const shared = newToken();
  await app.db
    .update(sessions)
    .set({ sharedHash: hashToken(shared) })
    .where(eq(sessions.idHash, hashToken(sessionToken)));
  return shared;
}

/**
 * Requires that the caller's session still exists, and locks it until the transaction ends. A
 * concurrent password change that ends it either commits first and is seen here, or waits.
 *
 * @throws AppError UNAUTHENTICATED if the session has ended.
 */
export async function requireExistingSession(tx: Transaction, { sessionId }: Pick<UserPrincipal, 'sessionId'>) {
  const found = await tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, sessionId)).for('share');
  if (found.length === 0) throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
}

/**
 * Whether a session, by its id on /account, still exists. For jobs that finish what the session
 * requested: a password change ends the sessions, and with them their requests. The caller holds
 * the lock of the user's row.
 */
export async function doesSessionExist(
  tx: Transaction,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<boolean> {
  return (await tx.$count(sessions, and(eq(sessions.id, sessionId), eq(sessions.userId, userId)))) > 0;
}

/** Returns a user's sessions that have not expired, newest first. */
export function listSessions(app: App, userId: string) {
  return app.db
    .select({
      id: sessions.id,
      createdAt: sessions.createdAt,
      expiresAt: sessions.expiresAt,
      lastUsedAt: sessions.lastUsedAt,
      idpSubject: sessions.idpSubject,
      byPasskey: sessions.byPasskey,
      userAgent: sessions.userAgent,
      client: sessions.client,
    })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), isNull(sessions.stepHash), gt(sessions.expiresAt, app.now())))
    .orderBy(desc(sessions.createdAt), desc(sessions.id));
}

/** Ends the session of a token; does nothing if there is none. */
export async function deleteSession(app: App, sessionToken: string): Promise<void> {
  await lucia(app).invalidateSession(sessionToken);
}

/** Ends the session of a shared token; does nothing if there is none. */
export async function deleteSharedSession(app: App, sharedToken: string): Promise<void> {
  await lucia(app, app.db, { token: 'sharedHash' }).invalidateSession(sharedToken);
}

/** Records a sign-out in the audit log. Does nothing for a caller that is not a user. */
export async function recordSignOut(app: App, principal: Principal | null, client: Client): Promise<void> {
  if (principal?.kind !== 'user') return;
  const { id } = principal.user;
  await recordAudit(app.db, app.now(), { action: 'signed-out', actorId: id, userId: id, client });
}

/** Ends one of a user's sessions by its id, which /account shows. Returns false if there is none. */
export async function deleteSessionById(db: Executor, userId: string, sessionId: string): Promise<boolean> {
  const ended = await db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), eq(sessions.id, sessionId)))
    .returning({ id: sessions.id });
  return ended.length > 0;
}

/** Ends all sessions of a user but one. */
export async function deleteOtherSessions(db: Executor, userId: string, keptSessionId: string): Promise<void> {
  await db.delete(sessions).where(and(eq(sessions.userId, userId), ne(sessions.id, keptSessionId)));
}
