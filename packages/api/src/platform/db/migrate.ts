import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import type { Sql } from 'postgres';
import postgres from 'postgres';
import { codeOf } from '../errors.ts';
import { type Log, silentLog } from '../log.ts';
import { hasRoleDefaults, setRoleDefaults } from './role-defaults.ts';

/** The folder of this program's migrations: beside this file, and beside the bundle where a build has put them. */
export const ownMigrations = fileURLToPath(new URL('migrations', import.meta.url));

/** The migrations of a program: their folder, and the version of the release that they belong to. */
type Release = { folder: string; version: string };

/** The migrations of a database, compared with those of a release. */
type SchemaState = {
  /** The number of the release's migrations. */
  known: number;
  /** How many of those the database lacks. */
  pending: number;
  /** How many migrations of the database are newer than the release. */
  unknown: number;
  /** The version of the release that migrated the database last. Null before the first migration. */
  migratedBy: string | null;
  /** Whether the tables are those of 0.1.0, which no release upgrades. */
  isTooOld: boolean;
};

/** Requests wait behind a migration that waits for a table's lock, so it waits only this long. */
const lockTimeoutMilliseconds = 2_000;
/** Before the next attempt, so that the requests that waited are answered. */
const pauseMilliseconds = 1_000;
const giveUpMilliseconds = 300_000;
/** Lock not available, deadlock. */
const lockFailures = new Set(['55P03', '40P01']);
const undefinedTable = '42P01';

/**
 * Applies the migrations that the database lacks, all of them in one transaction, and sets the defaults of its
 * role. Several processes may start at once: one works, the others wait. Warns if the database is newer than
 * the release.
 *
 * @throws Error whose message is a sentence, if the tables are too old or too new for the release or if a
 * migration fails. A failure leaves the tables as they were.
 */
export async function migrate(sql: Sql, release: Release, log: Log = silentLog): Promise<void> {
  const state = await readSchemaState(sql, release);
  checkSchemaAge(state, release, log);
  // Most starts have nothing to migrate. They take no lock and open no connections.
  if (state.pending === 0 && (await hasRoleDefaults(sql))) return;

  // One connection holds the lock, the other one works, both without the deadlines of requests. A pooler in
  // transaction mode refuses the timeouts: behind one a migration waits for locks as long as the role may.
  const timeouts = { statement_timeout: '0', lock_timeout: String(lockTimeoutMilliseconds) };
  const connection = { ...sql.options.connection, ...(sql.options.prepare ? timeouts : {}) };
  const own = postgres({ ...sql.options, connection, max: 2, onnotice: () => {} } as never);
  try {
    await inOneProcess(own, async () => {
      const { pending } = await readSchemaState(own, release);
      if (pending > 0) await applyPending(own, release, log);
      if (pending > 0) await analyze(own);
      await setRoleDefaults(own, log);
    });
  } finally {
    await own.end({ timeout: 5 });
  }
}

/** The number is arbitrary but must be the same in every release. */
const lockNumber = 7_240_311;
const lockPauseMilliseconds = 100;

/**
 * Runs `work` in one process at a time; the others wait without a connection, because there may be fewer connections
 * than processes. The lock belongs to a transaction, because a session's lock does not work behind a pooler in
 * transaction mode.
 */
async function inOneProcess(sql: Sql, work: () => Promise<void>): Promise<void> {
  for (let done = false; !done; ) {
    await sql.begin(async (lock) => {
      await lock.unsafe('set local idle_in_transaction_session_timeout = 0');
      const [asked] = await lock`select pg_try_advisory_xact_lock(${lockNumber}) as taken`;
      if (asked?.taken) await work();
      done = asked?.taken;
    });
    if (!done) await pause(lockPauseMilliseconds);
  }
}

async function applyPending(sql: Sql, { folder, version }: Release, log: Log): Promise<void> {
  const started = performance.now();
  await sql`create schema if not exists drizzle`;
  // For programs that are older than the tables. It is read only where there are migrations that they do not know.
  await sql.unsafe(`comment on schema drizzle is '${version}'`);
  for (let attempt = 1; ; attempt++) {
    try {
      await applyMigrations(drizzle(sql), { migrationsFolder: folder });
      break;
    } catch (error) {
      const isLocked = lockFailures.has(codeOf(error) ?? '');
      if (!isLocked || performance.now() - started > giveUpMilliseconds) throw failure(error, isLocked);
      if (attempt === 1) log.warn('The migrations wait for a lock.');
      await pause(pauseMilliseconds);
    }
  }
  log.info('The migrations were applied.', { milliseconds: Math.round(performance.now() - started) });
}

/**
 * Renews what the planner knows of the tables. A new table, column or index of an expression has no statistics until
 * autovacuum comes by, which of a million rows waits for a hundred thousand changes: lists took 0.9 s instead of 0.05.
 */
async function analyze(sql: Sql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname = 'public' and pg_has_role(tableowner, 'usage')`;
  await sql.unsafe(`analyze ${tables.map(({ name }) => name).join(', ')}`);
}

function failure(error: unknown, isLocked: boolean): Error {
  const reason = isLocked
    ? 'other transactions held its tables for five minutes. End long transactions, then start again.'
    : rootOf(error);
  const code = codeOf(error);
  const sentence = `The database could not be migrated and is as before: ${reason}`;
  return Object.assign(new Error(sentence, { cause: error }), code === null ? {} : { code });
}

/** Returns the driver's message: drizzle's own quotes the whole statement. */
function rootOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : rootOf(error.cause);
}

/** Compares the database with the migrations of a release. */
export async function readSchemaState(sql: Sql, { folder }: Pick<Release, 'folder'>): Promise<SchemaState> {
  const known = readJournal(folder);
  const { applied, migratedBy } = await readApplied(sql);

  // Migrations are applied in their order, so the newest one tells which of the others are in.
  const newest = applied.at(-1) ?? 0;
  return {
    known: known.length,
    pending: known.filter((createdAt) => createdAt > newest).length,
    unknown: applied.filter((createdAt) => createdAt > (known.at(-1) ?? 0)).length,
    migratedBy,
    isTooOld: applied.some((createdAt) => createdAt < (known[0] ?? 0)),
  };
}

/** Returns when each migration of a release was written, in milliseconds since the epoch, oldest first: their identity. */
function readJournal(folder: string): number[] {
  const journal: { entries: { when: number }[] } = JSON.parse(
    fs.readFileSync(path.join(folder, 'meta', '_journal.json'), 'utf8'),
  );
  return journal.entries.map(({ when }) => when);
}

async function readApplied(sql: Sql): Promise<{ applied: number[]; migratedBy: string | null }> {
  const rows = await sql<{ at: string; by: string | null }[]>`
    select created_at::text as at, obj_description(to_regnamespace('drizzle')::oid, 'pg_namespace') as by
    from drizzle.__drizzle_migrations order by created_at`.catch((error: unknown) => {
    if (codeOf(error) === undefinedTable) return [];
    throw error;
  });
  return { applied: rows.map(({ at }) => Number(at)), migratedBy: rows[0]?.by ?? null };
}

/**
 * Warns if the tables are newer than the release.
 *
 * @throws Error whose message is a sentence, if they are of 0.1.0, or of a release that does not follow this one: what
 * this one reads or writes may be gone.
 */
export function checkSchemaAge(state: SchemaState, { version }: Pick<Release, 'version'>, log: Log): void {
  if (state.isTooOld) throw new Error(tooOld);
  if (state.unknown === 0) return;

  if (state.migratedBy !== null && !isNeighbour(version, state.migratedBy)) {
    throw new Error(
      `The database is of Gatehouse ${state.migratedBy}, and this is ${version}, which works with the database of the next minor release at most. Install a newer release.`,
    );
  }
  log.warn('The database is newer than this program. Update this node as well.', { unknown_migrations: state.unknown });
}

const tooOld = 'The database is one of Gatehouse 0.1.0, which is not upgraded: use a new database (see CHANGELOG.md).';

/** Whether two releases can work on the same tables: they are of the same or of neighbouring minor versions. */
function isNeighbour(older: string, newer: string): boolean {
  const [oldMajor, oldMinor = 0] = older.split('.').map(Number);
  const [major, minor = 0] = newer.split('.').map(Number);
  return major === oldMajor && minor - oldMinor <= 1;
}

/** Returns what to do about tables that this release cannot use as they are, or null if it can. */
export function explainPending({ pending, known, isTooOld }: SchemaState): string | null {
  if (isTooOld) return tooOld;
  if (pending === 0) return null;
  const missing = pending === known ? 'has no tables yet' : `lacks ${pending} of ${known} migrations`;
  return `The database ${missing}: start this release of the service, or run the operator's command migrate.`;
}
