import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** The operating-system user that PostgreSQL runs as, because it refuses to run as root. */
export type Account = { uid: number; gid: number };

const dedicatedUser = 'gatehouse-postgres';

/**
 * Null when this process is not root: PostgreSQL then runs as the same user. For root: the user
 * who owns the data directory and the cluster in it, else a system user for this purpose alone,
 * which is made where the system has none.
 */
export function postgresAccount(cluster: string): Account | null {
  if (process.getuid?.() !== 0) return null;

  const made = fs.statSync(cluster, { throwIfNoEntry: false });
  const dataDir = fs.statSync(path.dirname(cluster), { throwIfNoEntry: false });
  // Another owner is the shared user of an earlier version, or a number of another container.
  if (made && made.uid !== 0 && made.uid === dataDir?.uid) return { uid: made.uid, gid: made.gid };

  return find(dedicatedUser) ?? make(dedicatedUser);
}

/** The name of a user id, also where users come from a directory service; null for an unknown one. */
export function userName(uid: number): string | null {
  const { status, stdout } = spawnSync('id', ['-nu', String(uid)], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/**
 * Gives a folder with everything in it to the account. Does not follow symbolic links. What
 * another starter removes meanwhile is left out.
 */
export function giveTo(account: Account, place: string): void {
  try {
    const found = fs.lstatSync(place);
    if (found.uid !== account.uid || found.gid !== account.gid) fs.lchownSync(place, account.uid, account.gid);
    if (!found.isDirectory()) return;

    for (const name of fs.readdirSync(place)) giveTo(account, path.join(place, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
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
  spawnSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name]);
  const made = find(name);
  if (made) return made;

  throw new Error(
    `PostgreSQL does not run as root: make a system user named ${name}, or start Gatehouse as another user.`,
  );
}
