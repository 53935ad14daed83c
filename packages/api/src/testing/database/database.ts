import { randomBytes } from 'node:crypto';
import type { Sql } from 'postgres';
import { createApp } from '../../create-app.ts';
import { parseConfig } from '../../platform/config.ts';
import { openDatabase } from '../../platform/db/client.ts';
import { ownMigrations } from '../../platform/db/migrate.ts';
import { silentLog } from '../../platform/log.ts';

export const migrationsFolder = ownMigrations;
const templateName = 'gatehouse_template';

/** The connections of this process to the tests' server. They stay open, because each one costs 10 ms of a processor. */
let server: Server | undefined;

type TestDatabase = { url: string; drop: () => Promise<void> };

type Server = { url: string; sql: Sql; template: Promise<void> };

/**
 * Creates a database by copying a template that has the migrations, the job queue and its schedules. `isStarted`
 * also copies the settings of the role, so that the database is as a start of the service leaves it, and the next
 * start has nothing to create.
 */
export async function createTestDatabase({ isStarted = false } = {}): Promise<TestDatabase> {
  server ??= openServer();
  const { url, sql, template } = server;
  await template;
  const name = `test_${randomBytes(8).toString('hex')}`;
  await sql.unsafe(`create database ${name} template ${templateName} strategy file_copy`);
  if (isStarted) await copyRoleSettings(sql, name);
  return {
    url: onDatabase(url, name),
    drop: async () => void (await sql.unsafe(`drop database ${name} with (force)`)),
  };
}

/** PostgreSQL does not copy the settings of a role in a database with that database. */
async function copyRoleSettings(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`do $$
    declare item text;
    begin
      for item in
        select unnest(setconfig) from pg_db_role_setting join pg_database on pg_database.oid = setdatabase
        where datname = '${templateName}' and setrole = session_user::regrole
      loop
        execute format('alter role current_user in database ${name} set %s = %L',
          split_part(item, '=', 1), substr(item, strpos(item, '=') + 1));
      end loop;
    end $$`);
}

function openServer(): Server {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error('TEST_DATABASE_URL is unset: run the tests with `npm test`.');

  const { sql } = openDatabase({ url, pool: 2, prepare: false });
  // Several test processes may start at the same time: one creates the template, the others wait.
  const template = sql.begin(async (lock) => {
    await lock`select pg_advisory_xact_lock(7240312)`;
    await makeTemplate(url, sql);
  });
  return { url, sql, template };
}

async function makeTemplate(server: string, sql: Sql): Promise<void> {
  const [known] = await sql`select 1 from pg_database where datname = ${templateName}`;
  if (known !== undefined) return;

  const unfinished = `${templateName}_new`;
  await sql.unsafe(`drop database if exists ${unfinished}`);
  await sql.unsafe(`create database ${unfinished}`);
  const made = onDatabase(server, unfinished);
  await startOnce(made, { work: false });
  await startOnce(made, { work: true });
  const { sql: own, close } = openDatabase({ url: made, pool: 1, prepare: false });
  await own.unsafe('delete from pgboss.job; delete from job_successes');
  await close();
  await sql.unsafe(`alter database ${unfinished} rename to ${templateName}`);
}

/** Starts and ends the App. A command waits for the indexes of the search; the service makes the schedules of the jobs. */
async function startOnce(url: string, { work }: { work: boolean }): Promise<void> {
  const config = parseConfig({
    PUBLIC_BASE_URL: 'http://localhost',
    DATABASE_URL: url,
    SMTP_URL: 'smtp://localhost:1',
    PAYMENT_SECRET_KEY: 'sk_test_sandbox',
    PAYMENT_WEBHOOK_SECRET: 'sandbox_webhook_secret',
    PAYMENT_API_URL: 'http://localhost:1',
  });
  const app = await createApp({ config, migrations: migrationsFolder, work, migrates: true, log: silentLog });
  await app.close();
}

function onDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
