import type { App } from '../../app.ts';
import { pingDatabase } from '../../db/ping.ts';
import { isDatabaseAway } from '../../errors.ts';
import { type Finding, reasonOf, right, wrong } from './finding.ts';

const oldestVersion = 15;

/** Checks the version of PostgreSQL and whether the migrations have run. */
export async function examineDatabase({ sql }: App): Promise<Finding[]> {
  try {
    await pingDatabase(sql);
    const [server] = await sql`select current_setting('server_version_num')::int / 10000 as version`;
    const [migrations] = await sql`select count(*)::int as count from drizzle.__drizzle_migrations`;
    return [
      server?.version >= oldestVersion
        ? right('Database', `PostgreSQL ${server?.version} answers.`)
        : wrong('Database', `It is PostgreSQL ${server?.version}. Move to ${oldestVersion} or newer.`),
      migrations?.count > 0
        ? right('Migrations', `All ${migrations?.count} are in.`)
        : wrong('Migrations', 'None is in. Start the service once, or run this command again.'),
    ];
  } catch (error) {
    if (isDatabaseAway(error)) {
      const sentence = `It does not answer (${reasonOf(error)}). Start it, or correct DATABASE_URL.`;
      return [wrong('Database', sentence)];
    }
    const sentence = `It cannot be read (${reasonOf(error)}). Give the user of DATABASE_URL its database to own, and start again.`;
    return [wrong('Database', sentence)];
  }
}
