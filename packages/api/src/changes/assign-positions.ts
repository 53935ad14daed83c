import type { Sql } from 'postgres';
import { writeRefusalOf } from '../platform/errors.ts';

/** The state of the feed: the last assigned position, and the position of the newest deleted change. */
export type Feed = { deployment: string; last: number; deletedTo: number };

const batchSize = 5000;

type Row = { deployment: string; last_position: string; deleted_to: string; waiting: boolean };

/**
 * Assigns each committed change its position in the feed, in the order of insertion, and returns the
 * feed. A change whose transaction commits later gets a later position, so a reader that continues
 * after a position misses none. A transaction sees what another has committed before it inserts its
 * own change, so causes have smaller ids than effects, and both are visible here or the cause
 * alone (docs/decisions/027).
 *
 * @throws Error if the feed has no row.
 */
export async function assignPositions({ sql }: { sql: Sql }): Promise<Feed> {
  for (;;) {
    const [row] = await sql<Row[]>`
      select deployment, last_position, deleted_to,
        exists (select from changes where position is null) as waiting
      from change_feed`;
    if (row === undefined) throw new Error('The feed of changes has no row.');
    if (!row.waiting) return feedOf(row);
    try {
      await assignBatch(sql);
    } catch (error) {
      // A database that refuses writes still tells what has its position already; the rest comes later.
      if (writeRefusalOf(error) === null) throw error;
      return feedOf(row);
    }
  }
}

function feedOf({ deployment, last_position, deleted_to }: Row): Feed {
  return { deployment, last: Number(last_position), deletedTo: Number(deleted_to) };
}

/** Batches keep the lock short where many changes were made while no service read the feed. */
async function assignBatch(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    // The lock comes first: the next statement sees every position that was assigned before it.
    await tx`select from change_feed for update`;
    await tx`
      with oldest as (
        select id from changes where position is null order by id limit ${batchSize}
      ), fresh as (
        select id, row_number() over (order by id) as place from oldest
      ), placed as (
        update changes set position = last_position + place from fresh, change_feed where changes.id = fresh.id
        returning 1
      )
      update change_feed set last_position = last_position + (select count(*) from placed)`;
  });
}
