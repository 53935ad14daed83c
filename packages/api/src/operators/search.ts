import { ilike, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { App, SearchReach } from '../app.ts';
import { beginningOf, partOf } from '../platform/security/text.ts';

/** Shorter terms have no trigram, so the index of parts cannot find them. */
const shortestPart = 3;

/**
 * Returns how far searches reach on this database. The indexes of parts need the extension pg_trgm,
 * which may be missing when the database is migrated.
 */
export async function readSearchReach({ sql }: App): Promise<SearchReach> {
  const [found] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_index
    where indexrelid in (to_regclass('users_parts'), to_regclass('organisations_parts')) and indisvalid`;
  return found?.count === 2 ? 'parts' : 'beginnings';
}

/**
 * Returns the condition that one of the columns holds the term, whatever its case: as a part, or
 * as its beginning where parts cannot be found with an index. Columns are in lower case, or `lower`
 * makes them so.
 */
export async function contains(
  app: App,
  term: string,
  { lower = [], mixed = [] }: { lower?: PgColumn[]; mixed?: PgColumn[] },
): Promise<SQL | undefined> {
  if (term.length >= shortestPart && (await readSearchReach(app)) === 'parts') {
    return or(...[...lower, ...mixed].map((column) => ilike(column, partOf(term))));
  }
  const beginning = beginningOf(term.toLowerCase());
  return or(
    ...lower.map((column) => sql`${column} like ${beginning}`),
    ...mixed.map((column) => sql`lower(${column}) like ${beginning}`),
  );
}
