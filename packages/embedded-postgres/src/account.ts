import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

/** The operating-system user that PostgreSQL runs as, because it refuses to run as root. */
export type Account = { uid: number; gid: number };

const dedicatedUser = 'gatehouse-postgres';

/**
 * Returns the account that runs PostgreSQL: null if this process is not root, because PostgreSQL then
 * runs as the same user; for root the user who owns the cluster, else, for a new one, a dedicated
 * system user, which is created if it is missing.
 *
 * @throws Error with a sentence if the user cannot be created.
 */
export function postgresAccount(cluster: string): Account | null {
  if (process.getuid?.() !== 0) return null;

  const folder = fs.statSync(cluster, { throwIfNoEntry: false });
  if (folder && folder.uid !== 0) return { uid: folder.uid, gid: folder.gid };

  return findUser(dedicatedUser) ?? createUser(dedicatedUser);
}

/** Returns the name of a user id, also for users of a directory service; null if there is none. */
export function userName(uid: number): string | null {
  const { status, stdout } = spawnSync('id', ['-nu', String(uid)], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

function findUser(name: string): Account | null {
  const line = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  if (!line) return null;

  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

function createUser(name: string): Account {
  spawnSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name]);
  const created = findUser(name);
  if (created) return created;

  throw new Error(
    `PostgreSQL does not run as root: make a system user named ${name}, or start Gatehouse as another user.`,
  );
}
