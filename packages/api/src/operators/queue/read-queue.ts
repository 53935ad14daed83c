import { and, asc, eq, gt, gte, ilike, isNotNull, isNull, lte, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { nameColumns } from '../../organisations/account-status.ts';
import type { Executor } from '../../platform/db/client.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { paymentEvents, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { addressSearchTexts } from '../../platform/security/address.ts';
import { pageOf } from '../../platform/security/keyset-pagination.ts';
import { freeLine, partOf } from '../../platform/security/text.ts';
import { afterCursor, cursorOf } from '../../platform/security/time-cursor.ts';
import { cursorInput } from '../pagination.ts';
import { invitedWithoutOrganisation } from './decide.ts';
import { evidenceColumns, evidenceFrom } from './evidence.ts';

const rowsPerPage = 50;

export const queueInput = z.object({ search: freeLine(100).optional(), after: cursorInput });

type Input = z.output<typeof queueInput>;

/**
 * Returns a page of the organisations that await a decision, oldest first, each with evidence
 * about its owner. An organisation appears once its owner has verified the address. Among them
 * are the users who signed up with an invitation and joined no organisation: a decision creates
 * an organisation for such a user, and until then the user's id takes the place of its id.
 */
export async function readQueue(app: App, _operator: Operator, { search, after }: Input) {
  const firstOwner = verifiedOwner(app.db);
  const withOrganisation = await app.db
    .select({
      organisation: nameColumns,
      requestedAt: organisations.createdAt,
      ...ownerColumns,
    })
    .from(organisations)
    .innerJoinLateral(firstOwner, sql`true`)
    .leftJoin(identities, isLinked)
    .where(and(isWaiting, matches(search), afterCursor(organisations.createdAt, organisations.id, after)))
    .orderBy(asc(organisations.createdAt), asc(organisations.id))
    .limit(rowsPerPage + 1);

  const withoutOrganisation = await app.db
    .select({ requestedAt: users.createdAt, ...ownerColumns })
    .from(users)
    .leftJoin(identities, isLinked)
    .where(and(awaitsWithoutOrganisation(app), matchesAddress(search), afterCursor(users.createdAt, users.id, after)))
    .orderBy(asc(users.createdAt), asc(users.id))
    .limit(rowsPerPage + 1);

  const found = [
    ...withOrganisation,
    ...withoutOrganisation.map((row) => ({ ...row, organisation: futureOrganisation(row.owner) })),
  ].sort((one, other) => positionOf(one).localeCompare(positionOf(other)));
  const { page, next } = pageOf(found, rowsPerPage, ({ requestedAt, organisation }) =>
    cursorOf(requestedAt, organisation.id),
  );
  const counts = await readCounts(app, { isWaiting, firstOwner, withoutOrganisation: awaitsWithoutOrganisation(app) });
  return {
    waiting: page.map(({ organisation, owner, requestedAt, ...facts }) => ({
      organisation,
      owner,
      requested_at: requestedAt.toISOString(),
      evidence: [
        ...(organisation.id === owner.id ? [{ code: 'joined_nothing' as const }] : []),
        ...evidenceFrom({ ...facts, email: owner.email, requestedAt }),
      ],
    })),
    next,
    counts,
    /** How many requests the search finds, counted like `counts`. */
    found: search ? (await waitingIds(app, { search })).length : counts.waiting,
  };
}

/**
 * Returns the ids of the requests that a search finds, as the queue lists them, the oldest first and at most
 * `maxCounted`. `until` leaves out those that were made, or whose address was verified, after a page was read, so that
 * an operator decides what the page counted.
 */
export async function waitingIds(
  app: App,
  { search, until }: { search?: string | undefined; until?: Date },
): Promise<string[]> {
  const wereVerified = until && lte(users.emailVerifiedAt, until);
  const wereMade = until && lte(organisations.createdAt, until);
  const withOrganisation = await app.db
    .select({ id: organisations.id, at: organisations.createdAt })
    .from(organisations)
    .innerJoinLateral(verifiedOwner(app.db), sql`true`)
    .where(and(isWaiting, matches(search), wereVerified, wereMade))
    .orderBy(asc(organisations.createdAt), asc(organisations.id))
    .limit(maxCounted);
  const withoutOrganisation = await app.db
    .select({ id: users.id, at: users.createdAt })
    .from(users)
    .where(and(awaitsWithoutOrganisation(app), matchesAddress(search), wereVerified))
    .orderBy(asc(users.createdAt), asc(users.id))
    .limit(maxCounted);
  return [...withOrganisation, ...withoutOrganisation]
    .sort((one, other) => one.at.getTime() - other.at.getTime())
    .slice(0, maxCounted)
    .map(({ id }) => id);
}

const ownerColumns = { owner: { id: users.id, email: users.email, name: users.name }, ...evidenceColumns };
const isLinked = and(eq(identities.userId, users.id), isNull(identities.unlinkedAt));

function positionOf({ requestedAt, organisation }: { requestedAt: Date; organisation: { id: string } }): string {
  return `${requestedAt.toISOString()} ${organisation.id}`;
}

function futureOrganisation({ id, email }: { id: string; email: string }) {
  return { id, slug: email, name: null };
}

function awaitsWithoutOrganisation(app: App): SQL | undefined {
  return and(invitedWithoutOrganisation(app.db), isNull(users.suspendedAt));
}

const isWaiting = and(eq(organisations.approval, 'pending'), isNull(organisations.suspendedAt));

function matches(search: string | undefined): SQL | undefined {
  if (!search) return undefined;
  const pattern = partOf(search);
  return or(ilike(organisations.name, pattern), ilike(organisations.slug, pattern), matchesAddress(search));
}

function matchesAddress(search: string | undefined): SQL | undefined {
  return search ? or(...addressSearchTexts(search).map((text) => ilike(users.email, partOf(text)))) : undefined;
}

const weekMilliseconds = 7 * dayMilliseconds;

/** Counting ends here, so that a page costs the same however many rows there are. A page says "1,000+". */
export const maxCounted = 1000;

type Conditions = { isWaiting: SQL | undefined; firstOwner: VerifiedOwner; withoutOrganisation: SQL | undefined };

/**
 * Counts the requests that wait, those approved within a week, the organisations with an active
 * subscription (null without billing), and the events and subscriptions that need attention. Each
 * count ends at `maxCounted`.
 */
async function readCounts(app: App, { isWaiting, firstOwner, withoutOrganisation }: Conditions) {
  const now = app.now();
  const since = new Date(now.getTime() - weekMilliseconds);
  const one = { one: sql`1` };
  const pays = and(eq(subscription.status, 'active'), or(isNull(subscription.endsAt), gt(subscription.endsAt, now)));

  const row = await countRows(app, {
    open: app.db.select(one).from(organisations).innerJoinLateral(firstOwner, sql`true`).where(isWaiting),
    alone: app.db.select(one).from(users).where(withoutOrganisation),
    approved: app.db.select(one).from(organisations).where(gte(organisations.approvedAt, since)),
    paying: app.db.selectDistinct({ id: subscription.organisationId }).from(subscription).where(pays),
    flagged: app.db.select(one).from(paymentEvents).where(eq(paymentEvents.flagged, true)),
    problems: app.db.select(one).from(subscription).where(isNotNull(subscription.problem)),
  });
  return {
    waiting: cappedSum(row?.open, row?.alone),
    approved_this_week: cappedSum(row?.approved),
    paying: app.payment === null ? null : cappedSum(row?.paying),
    needs_attention: cappedSum(row?.flagged, row?.problems),
    most: maxCounted,
  };
}

/** Counts the rows of each query, up to `maxCounted`. */
export async function countRows<Name extends string>(app: App, queries: Record<Name, SQLWrapper>) {
  const columns = Object.entries<SQLWrapper>(queries).map(
    ([name, rows]) =>
      sql`(select count(*)::int from (${rows} limit ${maxCounted}) as counted) as ${sql.identifier(name)}`,
  );
  const [row] = await app.db.execute<Record<Name, number>>(sql`select ${sql.join(columns, sql`, `)}`);
  return row;
}

function cappedSum(...counts: (number | undefined)[]): number {
  return Math.min(
    maxCounted,
    counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
  );
}

/**
 * Returns the lateral subquery of an organisation's first owner with a verified address. An organisation whose approval
 * was undone may have several owners; the queue lists it once. Because of the limit PostgreSQL looks owners up one
 * organisation at a time, in the order of the queue: joins of whole tables would take longer the more users there are.
 * The subquery has the name of the table, so that the columns of evidence can read either.
 */
function verifiedOwner(db: Executor) {
  const isOwner = and(eq(memberships.organisationId, organisations.id), eq(memberships.role, 'owner'));
  return db
    .select({ id: users.id, email: users.email, name: users.name, emailVerifiedAt: users.emailVerifiedAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(isOwner, isNotNull(users.emailVerifiedAt)))
    .orderBy(memberships.userId)
    .limit(1)
    .as('users');
}

type VerifiedOwner = ReturnType<typeof verifiedOwner>;
