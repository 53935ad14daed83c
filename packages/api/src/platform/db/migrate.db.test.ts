import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createApp } from '../../create-app.ts';
import { commandLine } from '../../operators/actor.ts';
import { afterRestore } from '../../operators/deployment/after-restore.ts';
import { describeSchema } from '../../operators/doctor/check-database.ts';
import { runChecks } from '../../operators/doctor/doctor.ts';
import { createTestDatabase, migrationsFolder } from '../../testing/database/database.ts';
import { createEmptyDatabase } from '../../testing/database/empty-database.ts';
import { parseConfig } from '../config.ts';
import { silentLog } from '../log.ts';
import { type Connection, openDatabase } from './client.ts';
import { migrate } from './migrate.ts';

/** A copy of the migrations that a test extends, as a release with a version. */
type Release = { folder: string; version: string; add: (tag: string, ...statements: string[]) => void };

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let connection: Connection;
let release: Release;
beforeAll(async () => {
  database = await createTestDatabase();
  connection = openDatabase({ url: database.url, pool: 6, prepare: true });
});
afterAll(async () => {
  await connection.close();
  await database.drop();
});
beforeEach(() => {
  release = copyRelease();
  return () => fs.rmSync(release.folder, { recursive: true });
});

/** The number of migrations added in this process, because two tests may add theirs to one database. */
let added = 0;

function copyRelease(): Release {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-migrations-'));
  fs.cpSync(migrationsFolder, folder, { recursive: true });
  const file = path.join(folder, 'meta', '_journal.json');
  const journal: { entries: object[] } = JSON.parse(fs.readFileSync(file, 'utf8'));
  return {
    folder,
    version: '0.3.0',
    add(tag, ...statements) {
      added += 1;
      fs.writeFileSync(path.join(folder, `${tag}.sql`), statements.join('--> statement-breakpoint\n'));
      const when = 4_000_000_000_000 + added;
      journal.entries.push({ idx: journal.entries.length, version: '7', when, tag, breakpoints: true });
      fs.writeFileSync(file, JSON.stringify(journal));
    },
  };
}

/** A database without tables, with a connection to it. */
async function emptyDatabase() {
  const { url, drop } = await createEmptyDatabase();
  const { sql, close } = openDatabase({ url, pool: 2, prepare: true });
  return {
    url,
    sql,
    async end() {
      await close();
      await drop();
    },
  };
}

it('migrations that fail leave the tables as they were, and the next start applies all of them', async () => {
  const { sql, end } = await emptyDatabase();
  release.add('9000_right', 'create table first_step (id int)');
  release.add('9001_wrong', 'create table second_step (id int)', 'select 1/0');
  const tables = () => sql`select to_regclass('first_step') as first, to_regclass('second_step') as second`;

  await expect(migrate(sql, release)).rejects.toThrow(
    /^The database could not be migrated and is as before: division by zero$/,
  );
  expect(await tables()).toEqual([{ first: null, second: null }]);

  fs.writeFileSync(path.join(release.folder, '9001_wrong.sql'), 'create table second_step (id int)');
  await migrate(sql, release);
  expect(await tables()).toEqual([{ first: 'first_step', second: 'second_step' }]);
  await end();
});

it('of several processes that start at once, one applies each migration', async () => {
  const { sql, end } = await emptyDatabase();
  release.add('9010_once', 'create table once (id int)');

  await Promise.all(Array.from({ length: 4 }, () => migrate(sql, release)));
  const [{ count } = {}] = await sql`select count(*)::int from drizzle.__drizzle_migrations`;
  expect(count).toBe(fs.readdirSync(release.folder).filter((file) => file.endsWith('.sql')).length);
  await end();
});

it('a migration is applied on a promoted copy, whose sequences were not replicated', async () => {
  const promoted = await createTestDatabase();
  const config = parseConfig({ DATABASE_URL: promoted.url });
  const app = await createApp({ config, migrations: migrationsFolder, work: false, log: silentLog });
  await app.sql`select setval('drizzle.__drizzle_migrations_id_seq', 1, false)`;
  await afterRestore(app, commandLine);

  release.add('9020_promoted', 'create table after_promotion (id int)');
  await migrate(app.sql, release);
  expect(await app.sql`select to_regclass('after_promotion') as made`).toEqual([{ made: 'after_promotion' }]);
  await app.close();
  await promoted.drop();
});

it('a migration that waits for a lock delays sign-ins by seconds at most, and is applied once the lock is free', async () => {
  release.add('9030_colour', 'alter table users add column colour text');
  const holder = await connection.sql.reserve();
  await holder`begin`;
  await holder`lock table users in share mode`;
  const migrated = migrate(connection.sql, release);
  let slowest = 0;
  for (const until = Date.now() + 2_500; Date.now() < until; ) {
    const started = performance.now();
    await connection.sql`select count(*) from users`;
    slowest = Math.max(slowest, performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(slowest).toBeLessThan(10_000);

  await holder`commit`;
  holder.release();
  await migrated;
  expect(await connection.sql`select colour from users`).toEqual([]);
});

it('a node starts on the tables of the next release with a warning, and refuses those of the release after', async () => {
  const older = await createTestDatabase();
  const { sql, close } = openDatabase({ url: older.url, pool: 2, prepare: true });
  const config = parseConfig({ DATABASE_URL: older.url, SMTP_URL: 'smtp://localhost:1' });
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
  const start = () =>
    createApp({ config: { ...config, version: '0.2.7' }, migrations: migrationsFolder, work: true, log });

  release.add('9040_next', 'create table of_the_next_release (id int)');
  await migrate(sql, release);
  await (await start()).close();
  expect(warnings).toEqual([expect.stringMatching(/^The database is newer than this program\./)]);

  release.add('9041_after', 'create table of_the_release_after (id int)');
  await migrate(sql, { ...release, version: '0.4.0' });
  await close();
  await expect(start()).rejects.toThrow(
    /^The database is of Gatehouse 0\.4\.0, and this is 0\.2\.7, .* Install a newer release\.$/,
  );
  await older.drop();
});

it('a database of 0.1.0 is refused, and doctor says so', async () => {
  const { url, sql, end } = await emptyDatabase();
  await sql`create schema drizzle`;
  await sql`create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`;
  await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('first', 1795203113505)`;
  const sentence = /The database is one of Gatehouse 0\.1\.0, which is not upgraded/;

  await expect(migrate(sql, release)).rejects.toThrow(sentence);
  const options = { config: parseConfig({ DATABASE_URL: url }), migrations: migrationsFolder, work: false };
  const doctor = await createApp({ ...options, withoutDatabase: true, log: silentLog });
  expect((await runChecks(doctor)).report).toMatch(sentence);
  await doctor.close();
  await end();
});

it('an admin command changes no table: it refuses a database that lacks migrations', async () => {
  const { url, sql, end } = await emptyDatabase();
  const config = parseConfig({ DATABASE_URL: url });
  const command = { config, migrations: migrationsFolder, work: false, log: silentLog };
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
  await end();
});

it('where the extension of the search cannot be created, searches find beginnings and the rest is migrated', async () => {
  const { sql, end } = await emptyDatabase();
  // It is in the way of the extension's own.
  await sql`create function similarity(text, text) returns real language sql as 'select 1::real'`;

  await migrate(sql, release);
  expect(await sql`select to_regclass('users') as users, to_regclass('users_parts') as parts`).toEqual([
    { users: 'users', parts: null },
  ]);
  await end();
});

it('a migration leaves no table without statistics, so that the first lists after an upgrade are as fast as later ones', async () => {
  const { sql, end } = await emptyDatabase();
  await migrate(sql, release);
  const unknown = await sql`
    select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples < 0`;
  expect(unknown).toEqual([]);

  await sql`insert into job_successes select 'kind ' || n, now() from generate_series(1, 500) as n`;
  release.add('rows', 'alter table job_successes add column note text');
  await migrate(sql, release);
  expect(await sql`select reltuples::int as rows from pg_class where relname = 'job_successes'`).toEqual([
    { rows: 500 },
  ]);
  await end();
});
