import { and, eq, gt, isNotNull, isNull, lt, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { basicColumns } from '../../organisations/basic-columns.ts';
import { type PlanFacts, planFact, planFacts } from '../../organisations/plan-facts.ts';
import { type UsageFacts, usageFacts } from '../../organisations/usage-facts.ts';
import { type Executor, prepared } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { batchedRead } from '../../platform/db/statements/batched-read.ts';
import { hourMilliseconds } from '../../platform/durations.ts';
import { currentOrganisation } from './current-organisation.ts';

/** The columns of the two tokens of a session. Each token is looked up in its own column alone. */
export type Token = 'idHash' | 'sharedHash';

export type SessionRow = Row<typeof inAnyOrganisation.idHash>;

/** What a request reads of the organisation beside its plan. */
export type ReadOptions = { usage?: boolean };

/**
 * Reads a session that has not expired, its user, the organisation that the user acts for and the
 * facts of its plan, and of its usage if the request wants them. Null if there is no such session.
 *
 * Most sessions act for the organisation that they name, which is approved and has few subscriptions.
 * One join by primary keys reads these. Any other session is read again by the query that chooses
 * among the user's organisations, which costs the database twice as much.
 */
export async function readSessionRow(
  app: App,
  token: Token,
  hash: string,
  { usage = false }: ReadOptions = {},
): Promise<SessionRow | null> {
  const now = app.now().toISOString();
  const rows = await inNamedOrganisation[usage ? 'idHashAndUsage' : token](app.db).execute(hash, { now });
  const [first] = rows;
  if (first === undefined) return null;

  const row = fromJoin(first, rows);
  if (row !== null) return row;
  const [chosen] = await inAnyOrganisation[token](app.db).execute({ hash, now, withUsage: usage });
  return chosen ?? null;
}

type Row<Statement extends (db: Executor) => { execute: (...values: never[]) => Promise<unknown[]> }> = Awaited<
  ReturnType<ReturnType<Statement>['execute']>
>[number];

const ofSession = {
  sessionId: sessions.id,
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
};

function hasToken(token: Token, hash: SQLWrapper) {
  return and(eq(sessions[token], hash), gt(sessions.expiresAt, sql.placeholder('now')));
}

/** If an organisation has more subscriptions, `planFacts` chooses the ones that count. */
const maxSubscriptions = 10;

/** Returns a row for each subscription of the organisation that the session names; one row if there is none. */
function joinNamedOrganisation(db: Executor, hash: SQL, token: Token, usage: SQL<UsageFacts | null>) {
  return db
    .select({
      ...ofSession,
      organisation: basicColumns,
      membership: { role: memberships.role, lastSeenAt: memberships.lastSeenAt },
      planFact,
      usageFacts: usage,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(
      memberships,
      and(eq(memberships.userId, sessions.userId), eq(memberships.organisationId, sessions.organisationId)),
    )
    .leftJoin(organisations, eq(organisations.id, memberships.organisationId))
    .leftJoin(
      paymentSubscriptions,
      and(eq(paymentSubscriptions.organisationId, organisations.id), isNotNull(paymentSubscriptions.status)),
    )
    .where(hasToken(token, hash))
    .limit(maxSubscriptions + 1);
}

const noUsage = sql<UsageFacts | null>`null`;

const inNamedOrganisation = {
  idHash: batchedRead((db, hash) => joinNamedOrganisation(db, hash, 'idHash', noUsage).prepare('session')),
  idHashAndUsage: batchedRead((db, hash) =>
    joinNamedOrganisation(db, hash, 'idHash', usageFacts(organisations.id, sql.placeholder('now'))).prepare(
      'session_usage',
    ),
  ),
  sharedHash: batchedRead((db, hash) =>
    joinNamedOrganisation(db, hash, 'sharedHash', noUsage).prepare('shared_session'),
  ),
};

type Joined = Row<typeof inNamedOrganisation.idHash>;

/** Null unless the named organisation is the one that `currentOrganisation` would choose, with all its subscriptions. */
function fromJoin({ organisation, membership, planFact: _, ...row }: Joined, rows: Joined[]): SessionRow | null {
  if (organisation === null || membership === null || rows.length > maxSubscriptions) return null;
  if (organisation.approval !== 'approved' || organisation.suspendedAt !== null) return null;

  const facts = rows.map(({ planFact }) => planFact).filter((fact) => fact !== null) as PlanFacts;
  return { ...row, organisation: { ...organisation, ...membership }, planFacts: facts.length === 0 ? null : facts };
}

/** Reads a session in whichever organisation the user acts for. */
const inAnyOrganisation = {
  idHash: prepared((db) => joinAnyOrganisation(db, 'idHash').prepare('session_any_organisation')),
  sharedHash: prepared((db) => joinAnyOrganisation(db, 'sharedHash').prepare('shared_session_any_organisation')),
};

function joinAnyOrganisation(db: Executor, token: Token) {
  const organisation = currentOrganisation(db, sql`${sessions.userId}`, sql`${sessions.organisationId}`);
  return db
    .select({
      ...ofSession,
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
    .where(hasToken(token, sql.placeholder('hash')));
}

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
  const before = new Date(now.getTime() - hourMilliseconds);
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
