import { drizzle } from 'drizzle-orm/postgres-js';
import type { Sql } from 'postgres';
import postgres from 'postgres';
import { type Log, silentLog } from '../../log.ts';
import { withAdvisoryLock } from '../advisory-lock.ts';
import { normaliseAddresses } from '../normal-addresses.ts';
import { hasRoleDefaults, setRoleDefaults } from '../role-defaults.ts';
import { applyMigration } from './apply-migration.ts';
import { checkSchemaAge, readSchemaState } from './schema-state.ts';

/**
 * Applies the migrations in `folder` that the database lacks, each in a transaction of its own.
 * Several processes may start at once. Warns if the schema is newer than the folder.
 *
 * @throws Error whose message is a sentence, if the schema is newer by more than one release or if
 * a migration fails.
 */
export async function migrate(sql: Sql, folder: string, log: Log = silentLog): Promise<void> {
  const state = await readSchemaState(sql, folder);
  checkSchemaAge(state, log);
  // Most starts have nothing to migrate. They take no lock and open no connections.
  if (state.pending.length === 0 && (await hasRoleDefaults(sql))) return normaliseAddresses(drizzle(sql));

  // Without the deadlines of requests: one connection holds the lock, the other one works.
  const connection = { ...sql.options.connection, ...(sql.options.prepare ? { statement_timeout: '0' } : {}) };
  const own = postgres({ ...sql.options, connection, max: 2, onnotice: () => {}, onfailure: undefined } as never);
  try {
    await withAdvisoryLock(own, async () => {
      await prepareTable(own);
      const { pending } = await readSchemaState(own, folder);
      for (const migration of pending) await applyMigration(own, migration, log);
      await normaliseAddresses(drizzle(own));
      await setRoleDefaults(own, log);
    });
  } finally {
    await own.end({ timeout: 5 });
  }
}

/** Creates drizzle's table of the applied migrations, with the number of each one's release. */
async function prepareTable(sql: Sql): Promise<void> {
  const [column] = await sql`
    select from information_schema.columns
    where table_schema = 'drizzle' and table_name = '__drizzle_migrations' and column_name = 'release'`;
  if (column !== undefined) return;

  await sql`create schema if not exists drizzle`;
  await sql`
    create table if not exists drizzle.__drizzle_migrations
      (id serial primary key, hash text not null, created_at bigint)`;
  await sql`alter table drizzle.__drizzle_migrations add column if not exists release int`;
}
