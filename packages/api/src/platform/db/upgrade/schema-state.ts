import type { Sql } from 'postgres';
import { codeOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { type Migration, readJournal, readMigrations, readOwnRelease } from './migration-files.ts';

/** The migrations of a database, compared with those of this build. */
type SchemaState = {
  /** The number of this build's migrations. */
  known: number;
  /** Migrations of this build that the database lacks, oldest first. */
  pending: Migration[];
  /** Migrations of the database that this build lacks. */
  unknown: number;
  /** By how many releases the newest of those is newer than this build. */
  releasesAhead: number;
};

/** Compares the database with the migrations in `folder`. */
export async function readSchemaState(sql: Sql, folder: string): Promise<SchemaState> {
  const journal = readJournal(folder);
  const own = new Set(journal.map(({ createdAt }) => createdAt));
  const applied = await readApplied(sql);

  const unknown = applied.filter(({ createdAt }) => !own.has(createdAt));
  const done = new Set(applied.map(({ createdAt }) => createdAt));
  const isPending = ({ createdAt }: { createdAt: number }) => !done.has(createdAt);
  const ownRelease = unknown.length > 0 ? readOwnRelease(folder) : 0;
  return {
    known: journal.length,
    pending: journal.some(isPending) ? readMigrations(folder).filter(isPending) : [],
    unknown: unknown.length,
    releasesAhead: Math.max(0, ...unknown.map(({ release }) => (release ?? ownRelease + 1) - ownRelease)),
  };
}

/**
 * Warns if the schema is newer than this build.
 *
 * @throws Error whose message is a sentence, if it is newer by more than one release: the tables
 * may lack what this build needs.
 */
export function checkSchemaAge({ unknown, releasesAhead }: SchemaState, log: Log): void {
  if (releasesAhead > 1) {
    throw new Error(
      `The database is ${releasesAhead} releases newer than this program, which works with the next release's database at most. Install a newer release.`,
    );
  }
  if (unknown > 0) {
    log.warn('The database is newer than this program. Update this node as well.', { unknown_migrations: unknown });
  }
}

/** Returns what to do about pending migrations, or null if there are none. */
export function explainPending({ pending, known }: SchemaState): string | null {
  if (pending.length === 0) return null;
  const missing = pending.length === known ? 'has no tables yet' : `lacks ${pending.length} of ${known} migrations`;
  return `The database ${missing}: start this release of the service, or run the operator's command migrate.`;
}

async function readApplied(sql: Sql): Promise<{ createdAt: number; release: number | null }[]> {
  // By JSON, because the table of earlier builds has no column `release`.
  const rows = await sql`
    select created_at::text as created_at, (to_jsonb(applied) ->> 'release')::int as release
    from drizzle.__drizzle_migrations as applied`.catch((error: unknown) => {
    if (codeOf(error) === undefinedTable) return [];
    throw error;
  });
  return rows.map((row) => ({ createdAt: Number(row.created_at), release: row.release as number | null }));
}

const undefinedTable = '42P01';
