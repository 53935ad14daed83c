import { and, desc, eq, gt, ne, sql } from 'drizzle-orm';
import { type Adapter, type DatabaseSession, type DatabaseUser, Lucia, TimeSpan } from 'lucia';
import type { App } from '../app.ts';
import type { Executor, Transaction } from '../db/client.ts';
import { sessions } from '../db/schema/sessions.ts';
import { accountStatusOf } from '../organisations/account-status.ts';
import type { Client } from '../security/client.ts';
import { hashToken, newToken } from '../security/token.ts';
import { beginSession } from './begin-session.ts';
import { recordSeen } from './last-seen.ts';
import { makePrincipal, type Principal } from './principal.ts';
import { type Facts, readFacts, type Token } from './session-row.ts';

/** The longest life of a session, however often it is used. Its cookie has the same lifetime; the server decides. */
export const longestSessionDays = 90;

const dayMs = 86_400_000;
/** A shorter extension is not written, so that an hour of use causes one write. */
const slideMs = dayMs / 24;

declare module 'lucia' {
  interface Register {
    Lucia: Lucia<Record<never, never>, { facts: Facts }>;
    DatabaseSessionAttributes: {
      organisationId: string | null;
      userAgent: string | null;
      client: string;
      passwordHash: string | null;
      idpSubject: string | null;
      browserToken: string | null;
    };
    DatabaseUserAttributes: { facts: Facts };
  }
}

/** Lucia holds nothing but its adapter and options, so every call makes one. */
function luciaOf(app: App, token: Token = 'idHash') {
  return new Lucia(hashedIdAdapter(app, token), {
    sessionExpiresIn: new TimeSpan(app.config.sessionTtlDays, 'd'),
    getUserAttributes: ({ facts }) => ({ facts }),
  });
}

type Start = {
  userId: string;
  organisationId: string | null;
  /** The hash that the password matched; null for a sign-in without a password. */
  passwordHash?: string | null;
  /** The subject that the identity provider confirmed; null for a sign-in without it. */
  idpSubject?: string | null;
  /** The token of the browser's cookie `known`, from `tokenForBrowser`. */
  browserToken?: string | null;
  client: Client;
};

/**
 * Starts a session, which is what signing in is, and answers its id, which is nowhere else: the table holds its hash.
 *
 * @throws AppError UNAUTHENTICATED where the account is gone, or its password was changed or
 *   its identity provider unlinked meanwhile; FORBIDDEN where it is closed.
 */
export async function startSession(
  app: App,
  { userId, organisationId, passwordHash = null, idpSubject = null, browserToken = null, client }: Start,
): Promise<string> {
  const { id } = await luciaOf(app).createSession(
    userId,
    {
      organisationId,
      passwordHash,
      idpSubject,
      browserToken,
      userAgent: client.userAgent?.slice(0, 300) ?? null,
      client: client.address,
    },
    { sessionId: newToken() },
  );
  return id;
}

/**
 * Gives a session a new id and keeps the rest of it, so that whoever copied the old one loses it.
 * The second token for sibling hosts becomes invalid with the old id.
 *
 * @returns the new id, or null where the session has ended meanwhile.
 */
export async function renewSession(
  tx: Transaction,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<string | null> {
  const id = newToken();
  const renewed = await tx
    .update(sessions)
    .set({ idHash: hashToken(id), sharedHash: null })
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, userId)))
    .returning({ id: sessions.id });
  return renewed.length === 0 ? null : id;
}

/**
 * A second token of a session, for products on sibling hosts: whoever holds it may ask
 * who it is, by `readSharedSession`, and nothing else. It dies with its session.
 */
export async function shareSession(app: App, sessionId: string): Promise<string> {
  const token = newToken();
  await app.db
    .update(sessions)
    .set({ sharedHash: hashToken(token) })
    .where(eq(sessions.idHash, hashToken(sessionId)));
  return token;
}

/**
 * Who the session's holder is now: roles, gates, suspensions and the plan are read
 * anew, in one query. Null for an unknown, expired or ended session and for whoever is closed,
 * whose sessions end here.
 */
export function readSession(app: App, sessionId: string): Promise<Principal | null> {
  return read(app, 'idHash', sessionId);
}

/** The same for the holder of a shared token; only for the answer to who it is. */
export function readSharedSession(app: App, sharedToken: string): Promise<Principal | null> {
  return read(app, 'sharedHash', sharedToken);
}

async function read(app: App, token: Token, id: string): Promise<Principal | null> {
  const { session, user } = await luciaOf(app, token).validateSession(id);
  if (session === null) return null;

  const { row } = user.facts;
  const { organisation } = row;
  const accountStatus = accountStatusOf(row.user, organisation);
  if (accountStatus === 'closed' || accountStatus === 'unverified') {
    await luciaOf(app).invalidateUserSessions(row.user.id);
    return null;
  }

  await slide(app, row);
  if (organisation !== null) await recordSeen(app, row.user.id, organisation);
  return makePrincipal({
    user: row.user,
    organisation: organisation && { id: organisation.id, slug: organisation.slug, name: organisation.name },
    role: organisation?.role ?? null,
    gate: accountStatus === 'active' ? 'open' : accountStatus,
    sessionId: row.sessionName,
    planFacts: row.planFacts,
  });
}

/** Extends a session to its full lifetime from now, to its 90th day at most. */
async function slide(app: App, { sessionName, createdAt, expiresAt }: Facts['row']): Promise<void> {
  const full = app.now().getTime() + app.config.sessionTtlDays * dayMs;
  const until = Math.min(full, createdAt.getTime() + longestSessionDays * dayMs);
  if (until - expiresAt.getTime() < slideMs) return;

  await app.db
    .update(sessions)
    .set({ expiresAt: new Date(until) })
    .where(eq(sessions.id, sessionName));
}

export async function endSession(app: App, sessionId: string): Promise<void> {
  await luciaOf(app).invalidateSession(sessionId);
}

/** Ends one of a person's sessions by the name it has on /account. False where there is none. */
export async function endNamedSession(db: Executor, userId: string, name: string): Promise<boolean> {
  const ended = await db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), eq(sessions.id, name)))
    .returning({ id: sessions.id });
  return ended.length > 0;
}

export async function endOtherSessions(db: Executor, userId: string, keptName: string): Promise<void> {
  await db.delete(sessions).where(and(eq(sessions.userId, userId), ne(sessions.id, keptName)));
}

/** Returns a user's sessions that have not expired, newest first. */
export function listSessions(app: App, userId: string) {
  return app.db
    .select({
      id: sessions.id,
      createdAt: sessions.createdAt,
      expiresAt: sessions.expiresAt,
      userAgent: sessions.userAgent,
      client: sessions.client,
    })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, app.now())))
    .orderBy(desc(sessions.createdAt), desc(sessions.id));
}

/** Lucia stores session ids in clear. This adapter stores their hashes, and returns the plain id. */
function hashedIdAdapter(app: App, token: Token): Adapter {
  return {
    async getSessionAndUser(id): Promise<[DatabaseSession | null, DatabaseUser | null]> {
      const facts = await readFacts(app, token, hashToken(id));
      if (facts === null) return [null, null];

      const { row } = facts;
      const attributes = {
        organisationId: row.organisation?.id ?? null,
        userAgent: null,
        client: '',
        passwordHash: null,
        idpSubject: null,
        browserToken: null,
      };
      return [
        { id, userId: row.user.id, expiresAt: row.expiresAt, attributes },
        { id: row.user.id, attributes: { facts } },
      ];
    },
    setSession: ({ id, userId, expiresAt, attributes }) =>
      beginSession(app, { idHash: hashToken(id), userId, expiresAt, ...attributes }),
    // Lucia would leave a session as it is for half of its time, and write one near its last day at each request: see slide.
    updateSessionExpiration: async () => {},
    async deleteSession(id) {
      await app.db.delete(sessions).where(eq(sessions[token], hashToken(id)));
    },
    async deleteUserSessions(userId) {
      await app.db.delete(sessions).where(eq(sessions.userId, userId));
    },
    async deleteExpiredSessions() {
      await app.db.delete(sessions).where(sql`${sessions.expiresAt} <= ${app.now().toISOString()}`);
    },
    // Lucia's list carries ids, which we do not have: listSessions stands in its place.
    getUserSessions: () => Promise.reject(new Error('Sessions are listed by listSessions.')),
  };
}

export async function deleteExpiredSessions(app: App): Promise<void> {
  await luciaOf(app).deleteExpiredSessions();
}
