import fs from 'node:fs';
import path from 'node:path';
import { type Account, userName } from './account.ts';
import { postgresFolder } from './binaries.ts';
import { clusterName, runCommand } from './run-command.ts';

const head = '# Gatehouse writes this file at each start.';

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

/**
 * Allows peer authentication over the private socket only: the operating system identifies the client. Written at each
 * start, because another user may start it.
 */
export async function writeAccessRules(account: Account | null, folder: string): Promise<void> {
  const users = new Set([userName(process.getuid?.() ?? 0), account && userName(account.uid), 'root']);
  const rows = [...users].filter((name) => name !== null).map((name) => `${serviceRole} "${name}" ${serviceRole}`);

  await write(account, folder, 'pg_ident.conf', [head, ...rows]);
  await write(account, folder, 'pg_hba.conf', [head, `local all ${serviceRole} peer map=${serviceRole}`]);
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
