import { and, eq, inArray, lt, ne, notExists, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { eraseOrganisation } from './delete-organisation.ts';
import { eraseUser } from './erase-user.ts';

const batchSize = 100;
/** After this time a run ends. The next run, an hour later, continues. */
const longestRunMilliseconds = 600_000;

type DeclinedRequest = { id: string; declinedAt: string };

/**
 * Erases the requests that were declined more than RETENTION_DAYS ago: their organisations, and the
 * members who belong to no other one. What cannot be erased now, because the payment provider does
 * not answer, is left for the next run and prevents no other erasure. Returns how many organisations it erased.
 */
export async function eraseDeclined(app: App): Promise<number> {
  const before = new Date(app.now().getTime() - app.config.retentionDays * dayMilliseconds);
  const isOld = and(eq(organisations.approval, 'declined'), lt(organisations.declinedAt, before)) ?? sql`false`;
  const endsAt = performance.now() + longestRunMilliseconds;

  let count = 0;
  let last: DeclinedRequest | undefined;
  do {
    const batch = await oldestAfter(app, isOld, last);
    for (const { id } of batch) {
      if (performance.now() > endsAt) return count;
      if (await eraseOne(app, id, isOld)) count++;
    }
    last = batch.length < batchSize ? undefined : batch.at(-1);
  } while (last !== undefined);
  return count;
}

function oldestAfter({ db }: App, isOld: SQL, last: DeclinedRequest | undefined): Promise<DeclinedRequest[]> {
  const place = sql`(${organisations.declinedAt}, ${organisations.id})`;
  // The time is read as text, because a Date has no microseconds.
  return db
    .select({ id: organisations.id, declinedAt: sql<string>`${organisations.declinedAt}::text` })
    .from(organisations)
    .where(and(isOld, last && sql`${place} > (${last.declinedAt}::timestamptz, ${last.id}::uuid)`))
    .orderBy(organisations.declinedAt, organisations.id)
    .limit(batchSize);
}

/** Returns whether the organisation is erased, with its members. */
async function eraseOne(app: App, id: string, isOld: SQL): Promise<boolean> {
  // An operator may have approved the organisation meanwhile. The erasure of its owner deletes it.
  const isStillWanted = async (db: Executor) =>
    (await db.$count(organisations, and(eq(organisations.id, id), sql`not (${isOld})`))) === 0;
  const options = { actorId: null, withMembers: true, shown: [id] };
  try {
    for (const user of await membersOfNoOther(app, id)) {
      const isTheirs = and(eq(users.id, user.id), belongsToNoOther(app.db, id));
      // An API key may have made them a member of another one meanwhile.
      const isWanted = async (db: Executor) => (await isStillWanted(db)) && (await db.$count(users, isTheirs)) > 0;
      await eraseUser(app, { userId: user.id }, { ...options, isStillWanted: isWanted });
    }
    await eraseOrganisation(app, id, isStillWanted);
    return true;
  } catch (error) {
    app.log.warn('A declined request could not be erased.', { organisationId: id, error });
    return false;
  }
}

function membersOfNoOther(app: App, organisationId: string) {
  const here = app.db
    .select({ id: memberships.userId })
    .from(memberships)
    .where(eq(memberships.organisationId, organisationId));
  return app.db
    .select({ id: users.id })
    .from(users)
    .where(and(inArray(users.id, here), belongsToNoOther(app.db, organisationId)));
}

function belongsToNoOther(db: Executor, organisationId: string) {
  const elsewhere = db
    .select({ one: sql`1` })
    .from(memberships)
    .where(and(sql`${memberships.userId} = users.id`, ne(memberships.organisationId, organisationId)));
  return and(eq(users.operator, false), notExists(elsewhere));
}
