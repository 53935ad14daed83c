import { setTimeout as pause } from 'node:timers/promises';
import type { Sql, TransactionSql } from 'postgres';
import { codeOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Migration } from './migration-files.ts';

/** Requests wait behind a migration that waits for a table's lock, so it waits only this long. */
const lockTimeoutMilliseconds = 2_000;
/** Before the next attempt, so that the requests that waited are answered. */
const pauseMilliseconds = 1_000;
const giveUpMilliseconds = 300_000;
/** Lock not available, deadlock. */
const lockFailures = new Set(['55P03', '40P01']);

/**
 * Applies one migration in a transaction of its own, and tries again while another transaction
 * holds its locks. A migration that only creates indexes is applied without a transaction, so that
 * tables can be written meanwhile.
 *
 * @throws Error that names the migration, if a statement fails or the locks stay held for five minutes.
 */
export async function applyMigration(sql: Sql, migration: Migration, log: Log): Promise<void> {
  const started = performance.now();
  const apply = migration.statements.every(isIndex) ? createIndexes : applyInTransaction;
  for (let attempt = 1; ; attempt++) {
    try {
      await apply(sql, migration);
      break;
    } catch (error) {
      const isLocked = lockFailures.has(codeOf(error) ?? '');
      if (!isLocked || performance.now() - started > giveUpMilliseconds) throw failure(migration, error, isLocked);
      if (attempt === 1) log.warn('A migration waits for a lock.', { migration: migration.tag });
      await pause(pauseMilliseconds);
    }
  }
  log.info('A migration was applied.', {
    migration: migration.tag,
    milliseconds: Math.round(performance.now() - started),
  });
}

function failure({ tag }: Migration, cause: unknown, isLocked: boolean): Error {
  const reason = isLocked
    ? 'other transactions held its tables for five minutes. End long transactions, then start again.'
    : cause instanceof Error
      ? cause.message
      : String(cause);
  const code = codeOf(cause);
  return Object.assign(new Error(`The migration ${tag} failed: ${reason}`, { cause }), code === null ? {} : { code });
}

async function applyInTransaction(sql: Sql, migration: Migration): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select set_config('lock_timeout', ${String(lockTimeoutMilliseconds)}, true)`;
    for (const statement of migration.statements) await tx.unsafe(statement);
    await record(tx, migration);
  });
}

const indexForm =
  /^create\s+(unique\s+)?index\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?"?([\w]+)"?\s+(on\s.*)$/is;

function isIndex(statement: string): boolean {
  return indexForm.test(withoutComments(statement));
}

async function createIndexes(sql: Sql, migration: Migration): Promise<void> {
  for (const statement of migration.statements) await createIndex(sql, statement);
  await record(sql, migration);
}

/** Carries out a CREATE INDEX so that its table can be written meanwhile, unless a valid index of the name exists. */
export async function createIndex(sql: Sql, statement: string): Promise<void> {
  const [, unique = '', name = '', definition = ''] = indexForm.exec(withoutComments(statement)) ?? [];
  const [existing] = await sql`select indisvalid as valid from pg_index where indexrelid = to_regclass(${`"${name}"`})`;
  if (existing?.valid) return;
  // An interrupted attempt left it incomplete.
  if (existing !== undefined) await sql.unsafe(`drop index concurrently "${name}"`);
  await sql.unsafe(`create ${unique}index concurrently "${name}" ${definition}`);
}

function withoutComments(statement: string): string {
  return statement.replace(/^\s*--.*$/gm, '').trim();
}

/** The id does not come from the column's sequence, which a logical replica does not have. */
async function record(sql: Sql | TransactionSql, { hash, createdAt, release }: Migration): Promise<void> {
  await sql`
    insert into drizzle.__drizzle_migrations (id, hash, created_at, release)
    select coalesce(max(id), 0) + 1, ${hash}, ${createdAt}::bigint, ${release}::int from drizzle.__drizzle_migrations`;
}
