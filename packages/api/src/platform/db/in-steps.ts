import { type SQL, sql } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import type { Executor, Transaction } from './client.ts';

const firstStep = 1000;
const [smallestStep, largestStep] = [50, 10_000];
/** Each step takes about this long, whatever a row of the table costs with its indexes and what hangs on it. */
const stepMilliseconds = 500;

/**
 * Deletes the rows that match, in statements of about half a second, which hold few locks. Leaves rows that
 * another transaction has locked to the next run, so that no two jobs deadlock. Returns how many it deleted.
 */
export async function deleteInSteps(db: Executor, table: PgTable, which: SQL | undefined): Promise<number> {
  const key = sql.join(keyOf(table), sql`, `);
  for (let total = 0, step = firstStep; ; ) {
    const started = performance.now();
    const { count } = await db.execute(sql`
      with due as materialized (
        select ${key} from ${table} where ${which} limit ${step} for update skip locked
      )
      delete from ${table} where (${key}) in (select * from due)`);
    total += count;
    if (count < step) return total;
    const fitting = (step * stepMilliseconds) / (performance.now() - started);
    step = Math.round(Math.min(largestStep, Math.max(smallestStep, fitting)));
  }
}

function keyOf(table: PgTable) {
  const { columns, primaryKeys } = getTableConfig(table);
  return primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
}

const rowsOfInsert = 1000;

/** Inserts rows a thousand at a time, because a statement has at most 65,535 parameters. */
export async function insertInSteps<Table extends PgTable>(
  tx: Transaction,
  table: Table,
  rows: Table['$inferInsert'][],
): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsOfInsert)
    await tx.insert(table).values(rows.slice(from, from + rowsOfInsert));
}
