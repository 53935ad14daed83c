import { type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Executor } from './client.ts';

const stepSize = 5000;

/**
 * Deletes the rows that match, in statements that hold few locks and not for long. Leaves rows that
 * another transaction has locked to the next run, so that no two jobs deadlock. Returns how many it deleted.
 */
export async function deleteInSteps(db: Executor, table: PgTable, which: SQL | undefined): Promise<number> {
  for (let total = 0; ; ) {
    const { count } = await db.execute(sql`
      delete from ${table} where ctid = any(array(
        select ctid from ${table} where ${which} limit ${stepSize} for update skip locked))`);
    total += count;
    if (count < stepSize) return total;
  }
}
