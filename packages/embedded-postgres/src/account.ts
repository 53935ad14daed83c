import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** The operating-system user that PostgreSQL runs as, because it refuses to run as root. */
export type Account = { uid: number; gid: number };

const dedicatedUser = 'gatehouse-postgres';

/**
 * Returns the account that runs PostgreSQL: null if this process is not root, because PostgreSQL then
 * runs as the same user; for root the user who owns both the data directory and the cluster, else a
 * dedicated system user, which is created if it is missing.
 *
 * @throws Error with a sentence if the user cannot be created.
 */
export function postgresAccount(cluster: string): Account | null {
  if (process.getuid?.() !== 0) return null;

  const folder = fs.statSync(cluster, { throwIfNoEntry: false });
  const dataDir = fs.statSync(path.dirname(cluster), { throwIfNoEntry: false });
  // Another owner is the shared user of an earlier version, or a user id of another container.
  if (folder && folder.uid !== 0 && folder.uid === dataDir?.uid) return { uid: folder.uid, gid: folder.gid };

  return findUser(dedicatedUser) ?? createUser(dedicatedUser);
}

/** Returns the name of a user id, also for users of a directory service; null if there is none. */
export function userName(uid: number): string | null {
  const { status, stdout } = spawnSync('id', ['-nu', String(uid)], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/**
 * Makes the account the owner of a folder and everything in it. Does not follow symbolic links, and
 * skips files that another process removes meanwhile.
 *
 * @throws Error of the file system if this process may not change an owner.
 */
export function changeOwner(account: Account, file: string): void {
  try {
    const found = fs.lstatSync(file);
    if (found.uid !== account.uid || found.gid !== account.gid) fs.lchownSync(file, account.uid, account.gid);
    if (!found.isDirectory()) return;

    for (const name of fs.readdirSync(file)) changeOwner(account, path.join(file, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
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
