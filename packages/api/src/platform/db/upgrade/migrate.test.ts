import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createApp } from '../../../create-app.ts';
import { describeSchema } from '../../../operators/describe-schema.ts';
import { runChecks } from '../../../operators/doctor/doctor.ts';
import { createTestDatabase, migrationsFolder } from '../../../testing/database/database.ts';
import { createEmptyDatabase } from '../../../testing/database/empty-database.ts';
import { copyMigrations, type MigrationsFolder } from '../../../testing/database/migrations-folder.ts';
import { parseConfig } from '../../config.ts';
import { silentLog } from '../../log.ts';
import { type Connection, openDatabase } from '../client.ts';
import { migrate } from './migrate.ts';
import { readOwnRelease } from './migration-files.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let connection: Connection;
let copy: MigrationsFolder;
beforeAll(async () => {
  database = await createTestDatabase();
  connection = openDatabase({ url: database.url, pool: 6, prepare: false });
});
afterAll(async () => {
  await connection.close();
  await database.drop();
});
beforeEach(() => {
  copy = copyMigrations();
  return () => copy.remove();
});

/** Resolves with an open transaction after its statement; `end` commits it. */
async function openTransaction(statement: string): Promise<{ end: () => Promise<unknown> }> {
  let commit = () => {};
  const committed = new Promise<void>((resolve) => {
    commit = resolve;
  });
  let begun = () => {};
  const open = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const whole = connection.sql.begin(async (tx) => {
    await tx.unsafe(statement);
    begun();
    await committed;
  });
  await open;
  return {
    end() {
      commit();
      return whole;
    },
  };
}

const indexes = (name: string) => connection.sql`
  select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`;

it('a migration that fails leaves those before it applied, and the next start continues with it', async () => {
  const empty = await createEmptyDatabase();
  const { sql, close } = openDatabase({ url: empty.url, pool: 2, prepare: false });
  copy.add('9000_right', 'create table first_step (id int)');
  copy.add('9001_wrong', 'create table second_step (id int)', 'select 1/0');

  await expect(migrate(sql, copy.folder)).rejects.toThrow(/9001_wrong.*division by zero/);
  expect(await sql`select to_regclass('first_step') as first, to_regclass('second_step') as second`).toEqual([
    { first: 'first_step', second: null },
  ]);
  copy.add('9001_wrong', 'create table second_step (id int)');
  await migrate(sql, copy.folder);
  expect(await sql`select to_regclass('second_step') as second`).toEqual([{ second: 'second_step' }]);
  await close();
  await empty.drop();
});

it('a migration is applied on a promoted copy, whose sequences were not replicated', async () => {
  const promoted = await createTestDatabase();
  const { sql, close } = openDatabase({ url: promoted.url, pool: 2, prepare: false });
  await sql`select setval('drizzle.__drizzle_migrations_id_seq', 1)`;
  copy.add('9000_promoted', 'create table after_promotion (id int)');
  await migrate(sql, copy.folder);
  expect(await sql`select to_regclass('after_promotion') as made`).toEqual([{ made: 'after_promotion' }]);
  await close();
  await promoted.drop();
});

it('a migration that waits for a lock delays sign-ins by seconds at most, and is applied once the lock is free', async () => {
  copy.add('9000_colour', 'alter table users add column colour text');
  const holder = await openTransaction('lock table users in share mode');
  const migrated = migrate(connection.sql, copy.folder);
  let slowest = 0;
  for (const until = Date.now() + 2_500; Date.now() < until; ) {
    const started = performance.now();
    await connection.sql`select count(*) from users`;
    slowest = Math.max(slowest, performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(slowest).toBeLessThan(10_000);

  await holder.end();
  await migrated;
  expect(await connection.sql`select colour from users`).toEqual([]);
});

it('writes continue while a migration of indexes is applied', async () => {
  copy.add('9010_index', 'create index "users_by_name" on "users" using btree ("name")');
  const holder = await openTransaction('update users set name = name');
  const migrated = migrate(connection.sql, copy.folder);
  await expect.poll(() => indexes('users_by_name')).toEqual([{ valid: false }]);
  await connection.sql.begin(async (tx) => {
    await tx`set local lock_timeout = '2s'`;
    await tx`delete from users`;
  });

  await holder.end();
  await migrated;
  expect(await indexes('users_by_name')).toEqual([{ valid: true }]);
});

it('an index whose build was interrupted is built again', async () => {
  copy.add('9020_index', '-- For the console.\ncreate index "users_by_colour" on "users" using btree ("created_at")');
  const holder = await openTransaction('update users set name = name');
  const interrupted = connection.sql`create index concurrently users_by_colour on users (created_at)`.catch(() => {});
  await expect.poll(() => indexes('users_by_colour')).toEqual([{ valid: false }]);
  await connection.sql`
    select pg_cancel_backend(pid) from pg_stat_activity
    where query like 'create index concurrently%' and datname = current_database()`;
  await interrupted;
  await holder.end();

  await migrate(connection.sql, copy.folder);
  expect(await indexes('users_by_colour')).toEqual([{ valid: true }]);
});

it('a node of the last release starts on the tables of this release with a warning, and refuses those of the next one', async () => {
  const older = await createTestDatabase();
  const config = parseConfig({ DATABASE_URL: older.url, SMTP_URL: 'smtp://localhost:1' });
  const ownRelease = readOwnRelease(copy.folder);
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
  const start = () => createApp({ config, migrations: migrationsFolder, work: true, log });

  copy.release('this');
  copy.add('9030_next', 'create table of_the_next_release (id int)');
  const { sql, close } = openDatabase({ url: older.url, pool: 2, prepare: false });
  await migrate(sql, copy.folder);
  expect(readOwnRelease(copy.folder)).toBe(ownRelease + 1);
  await (await start()).close();
  expect(warnings).toEqual([expect.stringMatching(/^The database is newer than this program\./)]);

  copy.release('next');
  copy.add('9031_after', 'create table of_the_release_after (id int)');
  await migrate(sql, copy.folder);
  await close();
  await expect(start()).rejects.toThrow(
    /^The database is 2 releases newer than this program.* Install a newer release\.$/,
  );
  await older.drop();
});

it('an admin command changes no table: it refuses a database that lacks migrations', async () => {
  const empty = await createEmptyDatabase();
  const config = parseConfig({ DATABASE_URL: empty.url });
  const command = { config, migrations: migrationsFolder, work: false, log: silentLog };
  const { sql, close } = openDatabase({ url: empty.url, pool: 1, prepare: false });
  const schemas = () => sql`select nspname from pg_namespace where nspname in ('drizzle', 'pgboss')`;

  await expect(createApp(command)).rejects.toThrow(/^The database has no tables yet: .* command migrate\.$/);
  const doctor = await createApp({ ...command, withoutDatabase: true });
  expect((await runChecks(doctor)).report).toMatch(/^WRONG {2}Migrations: The database has no tables yet/m);
  await doctor.close();
  expect(await schemas()).toEqual([]);

  const migrated = await createApp({ ...command, migrates: true });
  expect(await describeSchema(migrated)).toMatch(/^All \d+ migrations are in\.$/);
  await migrated.close();
  await (await createApp(command)).close();
  expect(await schemas()).toHaveLength(2);
  await close();
  await empty.drop();
});
