import type { App } from '../../app.ts';
import { pingDatabase } from '../../platform/db/health.ts';
import { explainPending, readSchemaState } from '../../platform/db/migrate.ts';
import { isDatabaseUnavailable } from '../../platform/errors.ts';
import { checkSettings } from './check-settings.ts';
import { type Finding, note, reasonOf, right, wrong } from './finding.ts';

const oldestVersion = 15;

/** Checks the version and the settings of PostgreSQL, and whether the migrations have run. */
export async function checkDatabase(app: App): Promise<Finding[]> {
  const { sql, migrations } = app;
  try {
    await pingDatabase(sql);
    const [server] = await sql`select current_setting('server_version_num')::int / 10000 as version`;
    return [
      server?.version >= oldestVersion
        ? right('Database', `PostgreSQL ${server?.version} answers.`)
        : wrong('Database', `It is PostgreSQL ${server?.version}. Move to ${oldestVersion} or newer.`),
      ...(await checkSettings(app)),
      await checkMigrations(sql, migrations),
    ];
  } catch (error) {
    if (isDatabaseUnavailable(error)) {
      const sentence = `It does not answer (${reasonOf(error)}). Start it, or correct DATABASE_URL.`;
      return [wrong('Database', sentence)];
    }
    const sentence = `It cannot be read (${reasonOf(error)}). Give the user of DATABASE_URL its database to own, and start again.`;
    return [wrong('Database', sentence)];
  }
}

async function checkMigrations(sql: App['sql'], folder: string): Promise<Finding> {
  const state = await readSchemaState(sql, { folder });
  const problem = explainPending(state);
  if (problem !== null) return wrong('Migrations', problem);
  return state.unknown === 0
    ? right('Migrations', `All ${state.known} are in.`)
    : note('Migrations', `The database is newer than this program by ${state.unknown}. Update this node as well.`);
}

/** Returns a sentence about the migrations of the database. */
export async function describeSchema({ sql, migrations }: App): Promise<string> {
  const { known, pending } = await readSchemaState(sql, { folder: migrations });
  return pending === 0 ? `All ${known} migrations are in.` : `${pending} migrations are missing.`;
}
