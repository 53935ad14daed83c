import { and, eq, ne, sql } from 'drizzle-orm';
import { type Adapter, type DatabaseSession, type DatabaseUser, Lucia, TimeSpan } from 'lucia';
import type { App } from '../../app.ts';
import { accountStatusOf } from '../../organisations/account-status.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { deleteInSteps } from '../../platform/db/delete-in-steps.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { dayMilliseconds, hourMilliseconds } from '../../platform/durations.ts';
import type { Client } from '../../platform/security/client.ts';
import { hashToken, newToken } from '../../platform/security/token.ts';
import { makePrincipal, type UserPrincipal } from '../principal.ts';
import { insertSession } from './insert-session.ts';
import { type ReadOptions, readSessionRow, recordSeen, type SessionRow, type Token } from './session-row.ts';

/** The longest life of a session, however often it is used. Its cookie has the same lifetime; the server decides. */
export const longestSessionDays = 90;

/** A shorter extension is not written, so that an hour of use causes one write. */
const slideMilliseconds = hourMilliseconds;

declare module 'lucia' {
  interface Register {
    Lucia: Lucia<Record<never, never>, { row: SessionRow }>;
    DatabaseSessionAttributes: {
      organisationId: string | null;
      userAgent: string | null;
      client: string;
      passwordHash: string | null;
      idpSubject: string | null;
      browserHash: string | null;
    };
    DatabaseUserAttributes: { row: SessionRow };
  }
}

/** An instance of Lucia holds nothing but its adapter and options. Each App has one for each way to read a session. */
const instances = new WeakMap<App, ReturnType<typeof createInstances>>();

function luciaOf(app: App, token: Token = 'idHash', { usage = false }: ReadOptions = {}) {
  const known = instances.get(app) ?? createInstances(app);
  instances.set(app, known);
  return known[usage ? 'idHashAndUsage' : token];
}

function createInstances(app: App) {
  function create(token: Token, options: ReadOptions) {
    return new Lucia(hashedIdAdapter(app, token, options), {
      sessionExpiresIn: new TimeSpan(app.config.sessionTtlDays, 'd'),
      getUserAttributes: ({ row }) => ({ row }),
    });
  }
  return {
    idHash: create('idHash', {}),
    idHashAndUsage: create('idHash', { usage: true }),
    sharedHash: create('sharedHash', {}),
  };
}

type Start = {
  userId: string;
  organisationId: string | null;
  /** The hash that the password matched; null for a sign-in without a password. */
  passwordHash?: string | null;
  /** The subject that the identity provider confirmed; null for a sign-in without it. */
  idpSubject?: string | null;
  /** The hash of the browser's token in the cookie `known`, from `tokenForBrowser`. */
  browserHash?: string | null;
  client: Client;
};

/**
 * Starts a session and returns its token. Only the browser has the token: the table holds its hash.
 *
 * @throws AppError UNAUTHENTICATED if the account is deleted or not verified, or its password was
 *   changed or its subject unlinked since the user proved it; FORBIDDEN if it is closed.
 */
export async function startSession(
  app: App,
  { userId, organisationId, passwordHash = null, idpSubject = null, browserHash = null, client }: Start,
): Promise<string> {
  const { id } = await luciaOf(app).createSession(
    userId,
    {
      organisationId,
      passwordHash,
      idpSubject,
      browserHash,
      userAgent: client.userAgent?.slice(0, 300) ?? null,
      client: client.address,
    },
    { sessionId: newToken() },
  );
  return id;
}

/**
 * Replaces a session's token, so that a copy of the old one grants no access. The second token for
 * sibling hosts becomes invalid too.
 *
 * @returns the new token; null if the session has ended.
 */
export async function renewSession(
  tx: Transaction,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<string | null> {
  const token = newToken();
  const renewed = await tx
    .update(sessions)
    .set({ idHash: hashToken(token), sharedHash: null })
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, userId)))
    .returning({ id: sessions.id });
  return renewed.length === 0 ? null : token;
}

/**
 * Stores and returns a second token of a session, for products on sibling hosts. It only permits
 * to verify the session, by `readSharedSession`, and becomes invalid when the session ends.
 */
export async function shareSession(app: App, sessionToken: string): Promise<string> {
  const shared = newToken();
  await app.db
    .update(sessions)
    .set({ sharedHash: hashToken(shared) })
    .where(eq(sessions.idHash, hashToken(sessionToken)));
  return shared;
}

type Reading = ReadOptions & {
  /** Writes nothing: neither is the session extended or its use recorded, nor do sessions of a closed account end. */
  readOnly?: boolean;
};

/**
 * Returns the principal of a session. Its role, gates and plan, and the usage if the request wants it,
 * are read for each call, by one query. Null if the session is unknown, expired or ended, or if the
 * account is closed: then all sessions of the user end.
 */
export function readSession(app: App, sessionToken: string, reading: Reading = {}): Promise<UserPrincipal | null> {
  return readByToken(app, 'idHash', sessionToken, reading);
}

/** Returns the principal of a session by its shared token, for requests that only verify the session. */
export function readSharedSession(app: App, sharedToken: string, reading: Reading = {}): Promise<UserPrincipal | null> {
  return readByToken(app, 'sharedHash', sharedToken, reading);
}

async function readByToken(app: App, token: Token, id: string, reading: Reading): Promise<UserPrincipal | null> {
  const { readOnly = false } = reading;
  const { session, user } = await luciaOf(app, token, reading).validateSession(id);
  if (session === null) return null;

  const { row } = user;
  const { organisation } = row;
  const accountStatus = accountStatusOf(row.user, organisation);
  if (accountStatus === 'closed' || accountStatus === 'unverified') {
    if (!readOnly) await luciaOf(app).invalidateUserSessions(row.user.id);
    return null;
  }

  if (!readOnly) {
    await extendSession(app, row);
    if (organisation !== null) await recordSeen(app, row.user.id, organisation);
  }
  return makePrincipal({
    user: row.user,
    organisation: organisation && { id: organisation.id, slug: organisation.slug, name: organisation.name },
    role: organisation?.role ?? null,
    accountStatus,
    sessionId: row.sessionId,
    planFacts: row.planFacts,
    usageFacts: row.usageFacts,
  });
}

/** Extends a session to its full lifetime from now, to its 90th day at most. */
async function extendSession(app: App, { sessionId, createdAt, expiresAt }: SessionRow): Promise<void> {
  const full = app.now().getTime() + app.config.sessionTtlDays * dayMilliseconds;
  const until = Math.min(full, createdAt.getTime() + longestSessionDays * dayMilliseconds);
  if (until - expiresAt.getTime() < slideMilliseconds) return;

  await app.db
    .update(sessions)
    .set({ expiresAt: new Date(until) })
    .where(eq(sessions.id, sessionId));
}

/** Ends the session of a token; does nothing if there is none. */
export async function deleteSession(app: App, sessionToken: string): Promise<void> {
  await luciaOf(app).invalidateSession(sessionToken);
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

/** Lucia calls the token the session's id, and stores it in clear. This adapter stores its hash, and returns the token. */
function hashedIdAdapter(app: App, token: Token, options: ReadOptions): Adapter {
  return {
    async getSessionAndUser(id): Promise<[DatabaseSession | null, DatabaseUser | null]> {
      const tokenHash = hashToken(id);
      const row = await readSessionRow(app, token, tokenHash, options);
      if (row === null) return [null, null];
      app.recentTokens.note(tokenHash);

      // Nothing reads the attributes of a session that exists.
      return [
        { id, userId: row.user.id, expiresAt: row.expiresAt, attributes: {} as DatabaseSession['attributes'] },
        { id: row.user.id, attributes: { row } },
      ];
    },
    setSession: ({ id, userId, expiresAt, attributes }) =>
      insertSession(app, { idHash: hashToken(id), userId, expiresAt, ...attributes }),
    // `extendSession` does it: Lucia would do so late, and near a session's 90th day at each request.
    updateSessionExpiration: async () => {},
    async deleteSession(id) {
      await app.db.delete(sessions).where(eq(sessions[token], hashToken(id)));
    },
    async deleteUserSessions(userId) {
      await app.db.delete(sessions).where(eq(sessions.userId, userId));
    },
    async deleteExpiredSessions() {
      await deleteInSteps(app.db, sessions, sql`${sessions.expiresAt} <= ${app.now().toISOString()}`);
    },
    // Lucia's list contains tokens, of which the table holds only hashes. `listSessions` replaces it.
    getUserSessions: () => Promise.reject(new Error('Sessions are listed by listSessions.')),
  };
}

/** Deletes sessions that have expired. */
export async function deleteExpiredSessions(app: App): Promise<void> {
  await luciaOf(app).deleteExpiredSessions();
}
