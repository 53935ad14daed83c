import type { PgTable } from 'drizzle-orm/pg-core';
import type { Transaction } from './client.ts';

const step = 1000;

/** Inserts rows a thousand at a time, because a statement has at most 65,535 parameters. */
export async function insertInSteps<Table extends PgTable>(
  tx: Transaction,
  table: Table,
  rows: Table['$inferInsert'][],
): Promise<void> {
  for (let from = 0; from < rows.length; from += step) await tx.insert(table).values(rows.slice(from, from + step));
}
