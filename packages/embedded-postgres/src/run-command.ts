import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Account } from './account.ts';

const run = promisify(execFile);

/**
 * Runs a command as the account, in the cluster's folder. Resolves to its stderr; if the command
 * fails, rejects with an error that has it as `stderr`.
 */
export async function runCommand(
  command: string[],
  { account, folder, input = '' }: { account: Account | null; folder: string; input?: string },
): Promise<string> {
  const [file = '', ...rest] = command;
  // Node enters the folder with this process's own permissions, before it changes the user: see `clusterName`.
  const done = run(file, rest, { env: postgresEnvironment(), cwd: folder, ...account });
  done.child.stdin?.on('error', () => {});
  done.child.stdin?.end(input);
  return (await done).stderr;
}

/** Excludes the service's secrets, and variables that configure PostgreSQL (PGPORT, PGDATA). */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}

/**
 * Returns the data directory as PostgreSQL receives it. Its user may have no permissions on the folders
 * above (a private home, `mktemp -d`), and gets none: a process that is started in the folder reaches it
 * as its working directory.
 */
export function clusterName(account: Account | null, folder: string): string {
  return account === null ? folder : '/proc/self/cwd';
}
