import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Sql } from 'postgres';
import { parseConfig } from '../../config.ts';
import { createApp } from '../../create-app.ts';
import { openDatabase } from '../../db/client.ts';
import { silentLog } from '../../log.ts';

export const migrationsFolder = fileURLToPath(new URL('../../db/migrations', import.meta.url));
const template = 'gatehouse_template';

/**
 * Creates a database by copying a template that has the migrations and the job queue, which takes
 * 25 to 50 ms.
 */
export async function createTestDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = process.env.TEST_DATABASE_URL;
  if (!server) throw new Error('TEST_DATABASE_URL is unset: run the tests with `npm test`.');

  const name = `test_${randomBytes(8).toString('hex')}`;
  await withServer(server, async (sql) => {
    // Several test processes may start at the same time: one creates the template, the others wait.
    await sql.begin(async (lock) => {
      await lock`select pg_advisory_xact_lock(7240312)`;
      await makeTemplate(server, sql);
    });
    await sql.unsafe(`create database ${name} template ${template} strategy file_copy`);
  });

  return {
    url: onDatabase(server, name),
    drop: () => withServer(server, async (sql) => void (await sql.unsafe(`drop database ${name} with (force)`))),
  };
}

async function makeTemplate(server: string, sql: Sql): Promise<void> {
  const [known] = await sql`select 1 from pg_database where datname = ${template}`;
  if (known !== undefined) return;

  const unfinished = `${template}_new`;
  await sql.unsafe(`drop database if exists ${unfinished}`);
  await sql.unsafe(`create database ${unfinished}`);
  const config = parseConfig({ PUBLIC_BASE_URL: 'http://localhost', DATABASE_URL: onDatabase(server, unfinished) });
  const app = await createApp({ config, migrations: migrationsFolder, work: false, migrates: true, log: silentLog });
  await app.close();
  await sql.unsafe(`alter database ${unfinished} rename to ${template}`);
}

async function withServer(server: string, act: (sql: Sql) => Promise<void>): Promise<void> {
  const { sql, close } = openDatabase({ url: server, pool: 2, prepare: false });
  try {
    await act(sql);
  } finally {
    await close();
  }
}

function onDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
