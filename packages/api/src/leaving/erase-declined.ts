import { and, eq, inArray, lt, ne, notExists, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Executor } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { eraseOrganisation } from './erase-organisation.ts';
import { eraseUser } from './erase-user.ts';

const dayMilliseconds = 86_400_000;
const batchSize = 100;

/**
 * Erases the requests that were declined more than RETENTION_DAYS ago: their organisations, and the
 * members who belong to no other one. What cannot be erased now, because the payment provider does
 * not answer, is left for the next run. Returns how many organisations it erased.
 */
export async function eraseDeclined(app: App): Promise<number> {
  const before = new Date(app.now().getTime() - app.config.retentionDays * dayMilliseconds);
  const isOld = and(eq(organisations.approval, 'declined'), lt(organisations.declinedAt, before));
  const old = await app.db
    .select({ id: organisations.id })
    .from(organisations)
    .where(isOld)
    .orderBy(organisations.declinedAt)
    .limit(batchSize);

  let count = 0;
  for (const { id } of old) {
    try {
      // An operator may have approved the organisation meanwhile. The erasure of its owner deletes it.
      const isStillDeclined = async (db: Executor) =>
        (await db.$count(organisations, and(eq(organisations.id, id), sql`not (${isOld})`))) === 0;
      for (const user of await membersOfNothingElse(app, id)) {
        await eraseUser(
          app,
          { userId: user.id },
          { actorId: null, withMembers: true, shown: [id], isStillWanted: isStillDeclined },
        );
      }
      await eraseOrganisation(app, id, isStillDeclined);
      count++;
    } catch (error) {
      app.log.warn('A declined request could not be erased.', { organisationId: id, error });
    }
  }
  return count;
}

function membersOfNothingElse(app: App, organisationId: string) {
  const here = app.db
    .select({ id: memberships.userId })
    .from(memberships)
    .where(eq(memberships.organisationId, organisationId));
  const elsewhere = app.db
    .select({ one: sql`1` })
    .from(memberships)
    .where(and(eq(memberships.userId, users.id), ne(memberships.organisationId, organisationId)));
  return app.db
    .select({ id: users.id })
    .from(users)
    .where(and(inArray(users.id, here), eq(users.operator, false), notExists(elsewhere)));
}
