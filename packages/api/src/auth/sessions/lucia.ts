import { and, eq, isNull, lt, type SQL, sql } from 'drizzle-orm';
import { type Adapter, Lucia, TimeSpan } from 'lucia';
import type { App } from '../../app.ts';
import { planColumns } from '../../organisations/plan.ts';
import { batchedRead } from '../../platform/db/batched-read.ts';
import { type Executor, prepared } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { organisationPlans } from '../../platform/db/schema/billing.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { writeIfPossible } from '../../platform/db/write-if-possible.ts';
import { hashToken } from '../../platform/security/token.ts';
import { hasPasskey, hasTotp } from '../factors/has-factor.ts';
import { currentOrganisation } from './current-organisation.ts';

/** The longest life of a session, however often it is used. Its cookie has the same lifetime; the server decides. */
export const longestSessionDays = 90;

type SessionRow = Awaited<ReturnType<ReturnType<typeof rowOf.idHash>['execute']>>[number];

declare module 'lucia' {
  interface Register {
    Lucia: ReturnType<typeof lucia>;
    DatabaseSessionAttributes: {
      /** Identifies the session on /account. It does not authenticate. */
      id: string;
      organisationId: string | null;
      idpSubject: string | null;
      freshUntil: Date | null;
      freshByFactor: boolean;
      byPasskey: boolean;
      identityFactor: boolean;
      /** The second step that the session waits for, and when it ends. */
      waitsFor: { stepHash: string; endsAt: Date } | null;
      userAgent: string | null;
      client: string | null;
    };
    DatabaseUserAttributes: SessionRow;
  }
}

type Options = {
  /** Which of the session's two tokens is presented. Each is looked up in its own column alone. */
  token?: 'idHash' | 'sharedHash';
  /** Writes nothing: a session is neither extended nor deleted. */
  readOnly?: boolean;
  /** Leaves out what the database refuses to write. An expired session is none, whether it can be deleted or not. */
  forReading?: boolean;
};

/**
 * Returns Lucia on a database or a transaction. A session slides: Lucia extends it to its full lifetime once
 * half of that has passed. What Lucia calls a session's id is the token that only the browser has.
 */
export function lucia(app: App, db: Executor = app.db, options: Options = {}) {
  return new Lucia(hashedIdAdapter(app, db, options), {
    sessionExpiresIn: new TimeSpan(app.config.sessionTtlDays, 'd'),
    getUserAttributes: (row) => row,
  });
}

/** Stores the hash of a session's token, where the adapters that come with Lucia store the token. */
function hashedIdAdapter(app: App, db: Executor, { token = 'idHash', readOnly, forReading }: Options): Adapter {
  const hasToken = (id: string) => eq(sessions[token], hashToken(id));
  // Lucia compares with the system's clock. The App has its own, which tests move.
  const aheadMilliseconds = app.now().getTime() - Date.now();
  const inSystemTime = (moment: Date) => new Date(moment.getTime() - aheadMilliseconds);
  const inAppTime = (moment: Date) => new Date(moment.getTime() + aheadMilliseconds);

  const write = (statement: PromiseLike<unknown>) => (forReading ? writeIfPossible(app, statement) : statement);

  return {
    async getSessionAndUser(id) {
      const hash = hashToken(id);
      const read = rowOf[token];
      const [row] = await read(db).execute({ hash });
      if (row === undefined) return [null, null];

      const { user, session } = row;
      return [
        {
          id,
          userId: user.id,
          expiresAt: inSystemTime(session.expiresAt),
          // Lucia keeps these for its own callers, of which there are none.
          attributes: { ...session, byPasskey: false, waitsFor: null },
        },
        { id: user.id, attributes: row },
      ];
    },
    async setSession({ id, userId, expiresAt, attributes: { waitsFor, ...attributes } }) {
      await insertion(db).execute({
        ...attributes,
        stepHash: waitsFor?.stepHash ?? null,
        freshUntil: attributes.freshUntil?.toISOString() ?? null,
        idHash: hashToken(id),
        userId,
        createdAt: app.now(),
        expiresAt: waitsFor?.endsAt ?? inAppTime(expiresAt),
      });
    },
    async updateSessionExpiration(id, expiresAt) {
      if (readOnly) return;
      const until = sql`least(${inAppTime(expiresAt).toISOString()}::timestamptz, ${lastMoment})`;
      // Near its last day a session is extended no further, and nothing is written.
      const isShorter = and(hasToken(id), isNull(sessions.stepHash), lt(sessions.expiresAt, until));
      await write(db.update(sessions).set({ expiresAt: until }).where(isShorter));
    },
    async deleteSession(id) {
      if (!readOnly) await write(db.delete(sessions).where(hasToken(id)));
    },
    async deleteUserSessions(userId) {
      if (!readOnly) await write(db.delete(sessions).where(eq(sessions.userId, userId)));
    },
    // A job deletes them (auth/delete-expired.ts).
    deleteExpiredSessions: () => Promise.reject(new Error('Expired sessions are deleted by deleteExpired.')),
    // Lucia's list contains tokens, of which the table holds only hashes. `listSessions` replaces it.
    getUserSessions: () => Promise.reject(new Error('Sessions are listed by listSessions.')),
  };
}

const lastMoment = sql`${sessions.createdAt} + make_interval(days => ${sql.raw(String(longestSessionDays))})`;

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
      lastUsedAt: sql.placeholder('createdAt'),
      // As text, because Drizzle cannot encode a timestamp that is null.
      freshUntil: sql`${sql.placeholder('freshUntil')}::timestamptz`,
      freshByFactor: sql.placeholder('freshByFactor'),
      stepHash: sql.placeholder('stepHash'),
      byPasskey: sql.placeholder('byPasskey'),
      identityFactor: sql.placeholder('identityFactor'),
      userAgent: sql.placeholder('userAgent'),
      client: sql.placeholder('client'),
    })
    .prepare('session_insert'),
);

/**
 * The one statement of a request with a session: the session, its user, and the organisation that the user acts for, with
 * its plan.
 */
const rowOf = {
  idHash: batchedRead(['hash'], (db, { hash }) => selectRow(db, eq(sessions.idHash, hash)).prepare('session')),
  sharedHash: batchedRead(['hash'], (db, { hash }) =>
    selectRow(db, eq(sessions.sharedHash, hash)).prepare('shared_session'),
  ),
};

function selectRow(db: Executor, hasToken: SQL) {
  const organisation = currentOrganisation(db, sql`${sessions.userId}`, sql`${sessions.organisationId}`);
  return db
    .select({
      session: {
        id: sessions.id,
        sharedHash: sessions.sharedHash,
        organisationId: sessions.organisationId,
        idpSubject: sessions.idpSubject,
        lastUsedAt: sessions.lastUsedAt,
        freshUntil: sessions.freshUntil,
        freshByFactor: sessions.freshByFactor,
        identityFactor: sessions.identityFactor,
        stepHash: sessions.stepHash,
        userAgent: sessions.userAgent,
        client: sessions.client,
        expiresAt: sessions.expiresAt,
      },
      user: {
        id: users.id,
        email: users.email,
        name: users.name,
        operator: users.operator,
        onboardedAt: users.onboardedAt,
        emailVerifiedAt: users.emailVerifiedAt,
        invitedOnly: users.invitedOnly,
        suspendedAt: users.suspendedAt,
        hasPassword: sql<boolean>`${users.passwordHash} is not null`,
        reviewSince: users.reviewSince,
        factorDueAt: users.factorDueAt,
        hasPasskey,
        hasTotp,
      },
      organisation: {
        id: organisation.id,
        slug: organisation.slug,
        name: organisation.name,
        approval: organisation.approval,
        suspendedAt: organisation.suspendedAt,
        role: organisation.role,
        secondFactorFrom: organisation.secondFactorFrom,
        lastSeenAt: organisation.lastSeenAt,
      },
      planRow: planColumns,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoinLateral(organisation, sql`true`)
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, organisation.id))
    .where(hasToken);
}
