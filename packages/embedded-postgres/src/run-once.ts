import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Account } from './account.ts';

const run = promisify(execFile);

/**
 * Runs a command as the account, inside of the cluster's folder, to its end. Resolves to what
 * it printed on stderr; rejects with that as `stderr` where it fails.
 */
export async function runOnce(
  command: string[],
  { account, folder, input = '' }: { account: Account | null; folder: string; input?: string },
): Promise<string> {
  const [file = '', ...rest] = command;
  // The folder is entered while this process still has its own rights: see `clusterName`.
  const done = run(file, rest, { env: postgresEnvironment(), cwd: folder, ...account });
  done.child.stdin?.on('error', () => {});
  done.child.stdin?.end(input);
  return (await done).stderr;
}

/** PostgreSQL does not need the service's secrets, and PGPORT or PGDATA would change what it does. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}

/**
 * What PostgreSQL is told as its data directory. Its own user may not pass the folders above it
 * (a private home, `mktemp -d`), and gets no right to: a process that is started inside of the
 * folder reaches it as its working directory.
 */
export function clusterName(account: Account | null, folder: string): string {
  return account === null ? folder : '/proc/self/cwd';
}
