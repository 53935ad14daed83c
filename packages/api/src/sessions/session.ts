import { and, eq, gt, ne, sql } from 'drizzle-orm';
import { type Adapter, type DatabaseSession, type DatabaseUser, Lucia, TimeSpan } from 'lucia';
import type { App } from '../app.ts';
import { prepared } from '../db/client.ts';
import { newId } from '../db/id.ts';
import { sessions, users } from '../db/schema.ts';
import { standingOf } from '../organisations/approval.ts';
import { planFacts } from '../organisations/plan-facts.ts';
import { hashToken, newToken } from '../security/token.ts';
import { currentOrganisation } from './current-organisation.ts';
import { makePrincipal, type Principal } from './principal.ts';

/** However often it is used, no session outlives this. The cookie lives as long, and the server decides. */
export const longestSessionDays = 90;

type Facts = NonNullable<Awaited<ReturnType<typeof readFacts>>>;

declare module 'lucia' {
  interface Register {
    Lucia: Lucia<Record<never, never>, { facts: Facts }>;
    DatabaseSessionAttributes: { organisationId: string | null; userAgent: string | null; client: string };
    DatabaseUserAttributes: { facts: Facts };
  }
}

const lucias = new WeakMap<App, Lucia<Record<never, never>, { facts: Facts }>>();

function luciaOf(app: App) {
  const known = lucias.get(app);
  if (known !== undefined) return known;

  const made = new Lucia(hashedIdAdapter(app), {
    sessionExpiresIn: new TimeSpan(app.config.sessionTtlDays, 'd'),
    getUserAttributes: ({ facts }) => ({ facts }),
  });
  lucias.set(app, made);
  return made;
}

type Start = { userId: string; organisationId: string | null; client: { address: string; userAgent: string | null } };

/** Starts a session and answers its id, which is nowhere else: the table holds its hash. */
export async function startSession(app: App, { userId, organisationId, client }: Start): Promise<string> {
  const { id } = await luciaOf(app).createSession(
    userId,
    { organisationId, userAgent: client.userAgent?.slice(0, 300) ?? null, client: client.address },
    { sessionId: newToken() },
  );
  return id;
}

/**
 * Who the session's holder is now: roles, gates, suspensions and the plan are read
 * anew, in one query. Null for an unknown, expired or ended session and for whoever is closed,
 * whose sessions end here.
 */
export async function readSession(app: App, sessionId: string): Promise<Principal | null> {
  const { session, user } = await luciaOf(app).validateSession(sessionId);
  if (session === null) return null;

  const { row } = user.facts;
  const { organisation } = row;
  const standing = standingOf(row.user, organisation);
  if (standing === 'closed' || standing === 'unverified') {
    await luciaOf(app).invalidateUserSessions(row.user.id);
    return null;
  }

  return makePrincipal({
    user: row.user,
    organisation: organisation && { id: organisation.id, slug: organisation.slug, name: organisation.name },
    role: organisation?.role ?? null,
    gate: standing,
    sessionId: row.sessionName,
    planFacts: row.planFacts,
  });
}

export async function endSession(app: App, sessionId: string): Promise<void> {
  await luciaOf(app).invalidateSession(sessionId);
}

/** Ends one of a person's sessions by the name it has on /account. False where there is none. */
export async function endNamedSession(app: App, userId: string, name: string): Promise<boolean> {
  const ended = await app.db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), eq(sessions.id, name)))
    .returning({ id: sessions.id });
  return ended.length > 0;
}

export async function endOtherSessions(app: App, userId: string, keptName: string): Promise<void> {
  await app.db.delete(sessions).where(and(eq(sessions.userId, userId), ne(sessions.id, keptName)));
}

/** A person's living sessions, newest first. */
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
    .orderBy(sql`${sessions.createdAt} desc`);
}

/** Lucia keeps session ids as they are; this adapter keeps their hashes, and hands the plain id back. */
function hashedIdAdapter(app: App): Adapter {
  return {
    async getSessionAndUser(id): Promise<[DatabaseSession | null, DatabaseUser | null]> {
      const facts = await readFacts(app, hashToken(id));
      if (facts === null) return [null, null];

      const { row } = facts;
      const attributes = { organisationId: row.organisation?.id ?? null, userAgent: null, client: '' };
      return [
        { id, userId: row.user.id, expiresAt: row.expiresAt, attributes },
        { id: row.user.id, attributes: { facts } },
      ];
    },
    async setSession({ id, userId, expiresAt, attributes }) {
      const now = app.now();
      await app.db
        .insert(sessions)
        .values({ idHash: hashToken(id), id: newId(now), userId, expiresAt, createdAt: now, ...attributes });
    },
    async updateSessionExpiration(id, expiresAt) {
      await app.db
        .update(sessions)
        .set({
          expiresAt: sql`least(${expiresAt.toISOString()}::timestamptz, ${sessions.createdAt} + make_interval(days => ${longestSessionDays}))`,
        })
        .where(eq(sessions.idHash, hashToken(id)));
    },
    async deleteSession(id) {
      await app.db.delete(sessions).where(eq(sessions.idHash, hashToken(id)));
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

async function readFacts(app: App, idHash: string) {
  const [row] = await bySession(app.db).execute({ idHash, now: app.now().toISOString() });
  return row === undefined ? null : { row };
}

const bySession = prepared((db) => {
  const organisation = currentOrganisation(db, sql`${sessions.userId}`, sql`${sessions.organisationId}`);
  return db
    .select({
      sessionName: sessions.id,
      expiresAt: sessions.expiresAt,
      user: {
        id: users.id,
        email: users.email,
        name: users.name,
        operator: users.operator,
        onboardedAt: users.onboardedAt,
        emailVerifiedAt: users.emailVerifiedAt,
        suspendedAt: users.suspendedAt,
      },
      organisation: {
        id: organisation.id,
        slug: organisation.slug,
        name: organisation.name,
        approval: organisation.approval,
        suspendedAt: organisation.suspendedAt,
        role: organisation.role,
      },
      planFacts: planFacts(organisation.id),
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoinLateral(organisation, sql`true`)
    .where(and(eq(sessions.idHash, sql.placeholder('idHash')), gt(sessions.expiresAt, sql.placeholder('now'))))
    .prepare('session');
});
