import type { Sql } from 'postgres';
import type { App } from '../../app.ts';
import { pingDatabase } from '../../platform/db/health.ts';
import { explainPending, readSchemaState } from '../../platform/db/migrate.ts';
import { explainDatabaseFailure } from '../../platform/errors.ts';
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
    const sentence = `It cannot be read (${reasonOf(error)}). Give the user of DATABASE_URL its database to own, and start again.`;
    return [wrong('Database', explainDatabaseFailure(error) ?? sentence)];
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

/** The alert GatehouseClockSkewed fires from this difference on. */
const alarmSeconds = 5;

type Server = {
  isolation: string;
  readOnly: string;
  commit: string;
  encoding: string;
  clock: number;
  /** The role and the database, quoted for SQL where they have to be. */
  role: string;
  name: string;
};

/**
 * Checks the defaults of the database's sessions that would break what the service promises, its encoding and its
 * clock. Returns no line where all are right.
 */
async function checkSettings(app: App): Promise<Finding[]> {
  const before = app.now().getTime();
  const { clock, ...server } = await readServer(app.sql);
  const skew = Math.round(clock - (before + app.now().getTime()) / 2000);

  const findings = settingFindings(server);
  if (Math.abs(skew) > alarmSeconds) {
    const direction = skew < 0 ? 'ahead of' : 'behind';
    const sentence = `This machine’s clock is ${Math.abs(skew)} s ${direction} the database’s. Set both by NTP.`;
    findings.push(wrong('Database clock', sentence));
  }
  return findings;
}

async function readServer(sql: Sql): Promise<Server> {
  const [server] = await sql<[Server]>`
    select
      current_setting('default_transaction_isolation') as isolation,
      current_setting('default_transaction_read_only') as "readOnly",
      current_setting('synchronous_commit') as commit,
      current_setting('server_encoding') as encoding,
      extract(epoch from clock_timestamp())::float8 as clock,
      quote_ident(session_user) as role,
      quote_ident(current_database()) as name`;
  return server;
}

function settingFindings({ isolation, readOnly, commit, encoding, role, name }: Omit<Server, 'clock'>): Finding[] {
  const about = 'Database settings';
  const remedy = (setting: string) =>
    `Run: alter role ${role} in database ${name} set ${setting}; then restart the nodes, and the pooler.`;
  const findings: Finding[] = [];
  if (isolation !== 'read committed') {
    const sentence = `Transactions are ${isolation} by default, which fails requests. ${remedy("default_transaction_isolation = 'read committed'")}`;
    findings.push(wrong(about, sentence));
  }
  if (readOnly === 'on') {
    const sentence = `Transactions are read-only by default. If neither a full disk nor a migration is the reason: ${remedy('default_transaction_read_only = off')}`;
    findings.push(wrong(about, sentence));
  }
  if (commit === 'off') {
    const sentence = `synchronous_commit is off: a crash of the server loses sign-ups and payment events that were answered. ${remedy('synchronous_commit = on')}`;
    findings.push(note(about, sentence));
  }
  if (encoding !== 'UTF8') {
    const sentence = `The encoding is ${encoding}, which lacks characters of names. Restore a dump into a database created with encoding 'UTF8'.`;
    findings.push(wrong(about, sentence));
  }
  return findings;
}
