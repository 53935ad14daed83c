import fs from 'node:fs';
import path from 'node:path';
import { type Account, userName } from './account.ts';
import { postgresFolder } from './binaries.ts';
import { clusterName, runCommand } from './run-command.ts';

/**
 * The first line of the access files that this version writes. A cluster without it was created by an
 * earlier version, in which the service's role is the superuser.
 */
const mark = '# Gatehouse writes this file at each start (roles 2).';

/** The service's role. It owns only the database of the same name. */
export const serviceRole = 'gatehouse';
export const superuser = 'postgres';

/**
 * Creates the service's role and its database in a new cluster. The role is not a superuser. No
 * client can connect as the superuser, which only PostgreSQL's single-user mode uses.
 */
export async function createRoles(account: Account | null, folder: string, createDatabases: boolean): Promise<void> {
  const attribute = createDatabases ? ' CREATEDB' : '';
  await inSingleUserMode(account, folder, 'postgres', [
    `CREATE ROLE ${serviceRole} LOGIN${attribute}`,
    `CREATE DATABASE ${serviceRole} OWNER ${serviceRole}`,
  ]);
  await writeAccessRules(account, folder);
}

/** Upgrades the roles and access rules of a cluster of any earlier version. No server may be using it. */
export async function upgradeRoles(account: Account | null, folder: string): Promise<void> {
  if (!read(folder, 'pg_hba.conf').startsWith(mark)) {
    await inSingleUserMode(account, folder, serviceRole, [replaceSuperuser]);
  }
  await writeAccessRules(account, folder);
}

/** Allows peer authentication over the private socket only: the operating system identifies the client. */
async function writeAccessRules(account: Account | null, folder: string): Promise<void> {
  const users = new Set([userName(process.getuid?.() ?? 0), account && userName(account.uid), 'root']);
  const rows = [...users].filter((name) => name !== null).map((name) => `${serviceRole} "${name}" ${serviceRole}`);

  await write(account, folder, 'pg_ident.conf', [mark, ...rows]);
  await write(account, folder, 'pg_hba.conf', [mark, `local all ${serviceRole} peer map=${serviceRole}`]);
}

/**
 * Writes a file as PostgreSQL's own user, so that a symbolic link of that user gains no permissions, and
 * renames it, so that it is complete.
 */
async function write(account: Account | null, folder: string, name: string, lines: string[]): Promise<void> {
  const input = `${lines.join('\n')}\n`;
  if (read(folder, name) === input) return;

  // The name contains the shell's process id, because two processes may write at the same time.
  const script = 'umask 077 && cat >"$1.$$" && mv -f "$1.$$" "$1"';
  await runCommand(['/bin/sh', '-c', script, 'sh', name], { account, folder, input });
}

function read(folder: string, name: string): string {
  try {
    return fs.readFileSync(path.join(folder, name), 'utf8');
  } catch {
    return '';
  }
}

async function inSingleUserMode(
  account: Account | null,
  folder: string,
  database: string,
  statements: string[],
): Promise<void> {
  const postgres = path.join(postgresFolder({ readableByAll: account !== null }), 'bin', 'postgres');
  const command = [postgres, '--single', '-j', '-D', clusterName(account, folder), database];
  const input = statements.map((statement) => `${statement};\n\n`).join('');

  // It exits with 0 after statements that failed.
  const stderr = await runCommand(command, { account, folder, input });
  if (/\b(ERROR|FATAL|PANIC):/.test(stderr)) throw Object.assign(new Error('A statement failed.'), { stderr });
}

/**
 * One statement, so that a kill in the middle leaves the cluster as it was. The first superuser
 * cannot lose that attribute, so it is renamed, and the service gets a new role with the old name.
 */
const replaceSuperuser = `
DO $$
DECLARE
  change text;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = '${serviceRole}') THEN
    RETURN;
  END IF;
  CREATE ROLE gatehouse_upgrade SUPERUSER;
  SET SESSION AUTHORIZATION gatehouse_upgrade;
  ALTER ROLE ${serviceRole} RENAME TO ${superuser};
  SET SESSION AUTHORIZATION ${superuser};
  DROP ROLE gatehouse_upgrade;
  CREATE ROLE ${serviceRole} LOGIN;
  ALTER DATABASE ${serviceRole} OWNER TO ${serviceRole};
  FOR change IN
    WITH own AS (
      SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    ), bound AS (
      SELECT classid, objid FROM pg_depend WHERE deptype IN ('e', 'a', 'i')
    )
    SELECT format('SCHEMA %I', nspname) FROM pg_namespace WHERE oid IN (SELECT oid FROM own) AND nspowner = 10
    UNION ALL
    SELECT format('%s %s',
      CASE relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END,
      oid::regclass)
    FROM pg_class WHERE relnamespace IN (SELECT oid FROM own) AND relowner = 10 AND relkind IN ('r', 'p', 'v', 'm', 'S')
      AND NOT (relkind = 'S' AND ('pg_class'::regclass, oid) IN (SELECT classid, objid FROM bound))
      AND NOT EXISTS (
        SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
    UNION ALL
    SELECT format('ROUTINE %s', oid::regprocedure) FROM pg_proc
    WHERE pronamespace IN (SELECT oid FROM own) AND proowner = 10
      AND ('pg_proc'::regclass, oid) NOT IN (SELECT classid, objid FROM bound)
    UNION ALL
    SELECT format('TYPE %s', oid::regtype) FROM pg_type
    WHERE typnamespace IN (SELECT oid FROM own) AND typowner = 10 AND typtype IN ('e', 'd', 'r')
      AND ('pg_type'::regclass, oid) NOT IN (SELECT classid, objid FROM bound)
  LOOP
    EXECUTE format('ALTER %s OWNER TO ${serviceRole}', change);
  END LOOP;
END
$$`.trim();
