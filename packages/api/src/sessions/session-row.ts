import { and, eq, gt, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { type Executor, prepared } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { sessions } from '../db/schema/sessions.ts';
import { planFacts } from '../organisations/plan-facts.ts';
import { currentOrganisation } from './current-organisation.ts';

/** The two tokens by which a session is found, each by its own column: one is never taken for the other. */
export type Token = 'idHash' | 'sharedHash';

export type Facts = NonNullable<Awaited<ReturnType<typeof readFacts>>>;

/** A living session, its holder, the organisation they act for and what decides its plan, in one prepared query. */
export async function readFacts(app: App, token: Token, hash: string) {
  const [row] = await statements[token](app.db).execute({ hash, now: app.now().toISOString() });
  return row === undefined ? null : { row };
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
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoinLateral(organisation, sql`true`)
    .where(and(eq(sessions[token], sql.placeholder('hash')), gt(sessions.expiresAt, sql.placeholder('now'))));
}
