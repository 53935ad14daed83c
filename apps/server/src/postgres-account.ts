import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

/** The system user that PostgreSQL runs as, because it refuses to run as root. */
export type Account = { uid: number; gid: number };

/**
 * Null when this process is not root and PostgreSQL simply runs as the same
 * user. For root: whoever owns the cluster already, else the user postgres,
 * which is made where the system has none.
 */
export function postgresAccount(cluster: string): Account | null {
  if (process.getuid?.() !== 0) return null;

  const owner = fs.statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };

  return find('postgres') ?? make('postgres');
}

/**
 * The command, run as that account. With `seeEverything` it keeps one right of
 * root's, to pass folders that are closed to it (a private home, `mktemp -d`).
 */
export function runAs(account: Account | null, command: string[], seeEverything: boolean): string[] {
  if (!account) return command;

  const rights = seeEverything ? ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'] : [];
  return ['setpriv', `--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', ...rights, ...command];
}

function find(name: string): Account | null {
  const line = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  if (!line) return null;

  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

function make(name: string): Account {
  spawnSync('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', name]);
  const made = find(name);
  if (made) return made;

  throw new Error(
    `PostgreSQL does not run as root: make a system user named ${name}, or start Gatehouse as another user.`,
  );
}
