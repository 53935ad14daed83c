import type { Sql } from 'postgres';
import { isDatabaseAway } from '../errors.ts';
import type { Log } from '../log.ts';
import { createIndex } from './upgrade/apply-migration.ts';

/** What the operator console finds parts of addresses and names with. Their sizes do not slow a search down. */
const indexes = [
  'create index users_parts on users using gin (email gin_trgm_ops, name gin_trgm_ops)',
  'create index organisations_parts on organisations using gin (slug gin_trgm_ops, name gin_trgm_ops)',
];

const lockTimeout = '60s';

/**
 * Creates the indexes of the operator console's search, with PostgreSQL's extension pg_trgm. Where
 * the extension may not be created, or long transactions hold the tables, searches find beginnings only, until a later start may. Not a
 * migration, because a migration either happens on every database or fails.
 */
export async function createSearchIndexes(sql: Sql, log: Log): Promise<void> {
  const [found] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_index
    where indexrelid in (to_regclass('users_parts'), to_regclass('organisations_parts')) and indisvalid`;
  if (found?.count === indexes.length) return;

  try {
    await sql`create extension if not exists pg_trgm`;
    // An index that is built while tables are written waits for older transactions, such as a dump.
    await sql`select set_config('lock_timeout', ${lockTimeout}, false)`;
    for (const statement of indexes) await createIndex(sql, statement);
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    log.warn(
      'Searches of the operator console find beginnings only, because their indexes could not be created. A later start tries again.',
      { error },
    );
  }
}
