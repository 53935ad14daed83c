import type { Sql } from 'postgres';
import type { Log } from '../log.ts';
import { lockNumbers, tryAdvisoryLock } from './advisory-lock.ts';
import { createIndex } from './upgrade/apply-migration.ts';

/** The indexes by which the operator console finds parts of addresses and names. */
const indexes = [
  'create index users_parts on users using gin (email gin_trgm_ops, name gin_trgm_ops)',
  'create index organisations_parts on organisations using gin (slug gin_trgm_ops, name gin_trgm_ops)',
];

/** An index that is built while tables are written waits for older transactions, such as a dump. */
const lockTimeout = '10min';

/**
 * Creates the indexes of the operator console's search, with PostgreSQL's extension pg_trgm, unless another
 * process does. It may take minutes, so nothing may wait for it but `operator -- migrate`. Where the
 * extension may not be created, or transactions hold the tables too long, searches find beginnings only,
 * until a later start succeeds. Not a migration, because a migration either happens on every database or
 * fails. `lock` and `sql` are connections of their own. A failure after `ending` is
 * that of a process that ends, and is not logged.
 */
export async function createSearchIndexes(lock: Sql, sql: Sql, log: Log, ending: AbortSignal): Promise<void> {
  try {
    if (await hasSearchIndexes(sql)) return;
    await tryAdvisoryLock(lock, lockNumbers.searchIndexes, async () => {
      await sql`create extension if not exists pg_trgm`;
      await sql`select set_config('lock_timeout', ${lockTimeout}, false)`;
      for (const statement of indexes) await createIndex(sql, statement);
    });
  } catch (error) {
    // The end of the process has closed the connections. The codes of its errors differ: CONNECTION_ENDED,
    // _DESTROYED, or _CLOSED, as after a failure of the network.
    if (ending.aborted) return;
    log.warn(
      'Searches of the operator console find beginnings only, because their indexes could not be created. A later start tries again.',
      { error },
    );
  }
}

/** Whether both indexes are complete. */
export async function hasSearchIndexes(sql: Sql): Promise<boolean> {
  const [found] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_index
    where indexrelid in (to_regclass('users_parts'), to_regclass('organisations_parts')) and indisvalid`;
  return found?.count === indexes.length;
}
