import { type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Executor } from './client.ts';

const firstStep = 1000;
const [smallestStep, largestStep] = [50, 10_000];
/** Each step takes about this long, whatever a row of the table costs with its indexes and what hangs on it. */
const stepMilliseconds = 500;

/**
 * Deletes the rows that match, in statements of about half a second, which hold few locks. Leaves rows that
 * another transaction has locked to the next run, so that no two jobs deadlock. Returns how many it deleted.
 */
export async function deleteInSteps(db: Executor, table: PgTable, which: SQL | undefined): Promise<number> {
  for (let total = 0, step = firstStep; ; ) {
    const started = performance.now();
    const { count } = await db.execute(sql`
      delete from ${table} where ctid = any(array(
        select ctid from ${table} where ${which} limit ${step} for update skip locked))`);
    total += count;
    if (count < step) return total;
    const fitting = (step * stepMilliseconds) / (performance.now() - started);
    step = Math.round(Math.min(largestStep, Math.max(smallestStep, fitting)));
  }
}
