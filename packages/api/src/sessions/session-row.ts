import { and, eq, gt, isNull, lt, or, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { type Executor, prepared } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { sessions } from '../db/schema/sessions.ts';
import { planFacts } from '../organisations/plan-facts.ts';
import { type UsageFacts, usageFacts } from '../organisations/usage-facts.ts';
import { currentOrganisation } from './current-organisation.ts';

/** The columns of the two tokens of a session. Each token is looked up in its own column alone. */
export type Token = 'idHash' | 'sharedHash';

export type SessionRow = NonNullable<Awaited<ReturnType<typeof readSessionRow>>>;

/** What a request needs to know of the organisation beside its plan. */
export type Wanted = { usage?: boolean };

/**
 * Reads a session that has not expired, its user, the organisation that the user acts for and the
 * facts of its plan, and of its usage if the request wants them, by one prepared query. Null if
 * there is no such session.
 */
export async function readSessionRow(app: App, token: Token, hash: string, { usage = false }: Wanted = {}) {
  const [row] = await statements[token](app.db).execute({ hash, now: app.now().toISOString(), withUsage: usage });
  return row ?? null;
}

const statements = {
  idHash: prepared((db) => select(db, 'idHash').prepare('session')),
  sharedHash: prepared((db) => select(db, 'sharedHash').prepare('shared_session')),
};

function select(db: Executor, token: Token) {
  const organisation = currentOrganisation(db, sql`${sessions.userId}`, sql`${sessions.organisationId}`);
  return db
    .select({
      sessionName: sessions.id,
      createdAt: sessions.createdAt,
      expiresAt: sessions.expiresAt,
      user: {
        id: users.id,
        email: users.email,
        name: users.name,
        operator: users.operator,
        onboardedAt: users.onboardedAt,
        emailVerifiedAt: users.emailVerifiedAt,
        invitedOnly: users.invitedOnly,
        suspendedAt: users.suspendedAt,
      },
      organisation: {
        id: organisation.id,
        slug: organisation.slug,
        name: organisation.name,
        approval: organisation.approval,
        suspendedAt: organisation.suspendedAt,
        role: organisation.role,
        lastSeenAt: organisation.lastSeenAt,
      },
      planFacts: planFacts(organisation.id),
      usageFacts: sql<UsageFacts | null>`case when ${sql.placeholder('withUsage')}::boolean
        then ${usageFacts(organisation.id, sql.placeholder('now'))} end`,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoinLateral(organisation, sql`true`)
    .where(and(eq(sessions[token], sql.placeholder('hash')), gt(sessions.expiresAt, sql.placeholder('now'))));
}

const hourMs = 3_600_000;

/**
 * Stores that a user's session acts for an organisation now, at most once an hour. Per
 * membership, so that no organisation learns when a user acts for another one.
 */
export async function recordSeen(
  app: App,
  userId: string,
  { id: organisationId, lastSeenAt }: { id: string; lastSeenAt: Date | null },
): Promise<void> {
  const now = app.now();
  const before = new Date(now.getTime() - hourMs);
  if (lastSeenAt !== null && lastSeenAt > before) return;

  // The condition is repeated: of parallel requests one writes.
  await app.db
    .update(memberships)
    .set({ lastSeenAt: now })
    .where(
      and(
        eq(memberships.userId, userId),
        eq(memberships.organisationId, organisationId),
        or(isNull(memberships.lastSeenAt), lt(memberships.lastSeenAt, before)),
      ),
    );
}
