import type { Sql } from 'postgres';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { createIndex } from './apply-migration.ts';

/** What the operator console finds parts of addresses and names with. Their sizes do not slow a search down. */
const indexes = [
  'create index users_parts on users using gin (email gin_trgm_ops, name gin_trgm_ops)',
  'create index organisations_parts on organisations using gin (slug gin_trgm_ops, name gin_trgm_ops)',
];

/** Insufficient privilege, not available, no such file: the server does not let us have the extension. */
const refusals = new Set(['42501', '0A000', '58P01']);

/**
 * Creates the indexes of the operator console's search, with PostgreSQL's extension pg_trgm. Where
 * the extension may not be created, searches find beginnings only, until a later start may. Not a
 * migration, because a migration either happens on every database or fails.
 */
export async function createSearchIndexes(sql: Sql, log: Log): Promise<void> {
  const [found] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_index
    where indexrelid in (to_regclass('users_parts'), to_regclass('organisations_parts')) and indisvalid`;
  if (found?.count === indexes.length) return;

  try {
    await sql`create extension if not exists pg_trgm`;
  } catch (error) {
    if (!refusals.has(codeOf(error) ?? '')) throw error;
    log.info('Searches find beginnings only: a superuser may create the extension pg_trgm, before the next start.');
    return;
  }
  for (const statement of indexes) await createIndex(sql, statement);
}
