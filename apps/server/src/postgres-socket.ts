import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { postgresAccount } from './postgres-account.ts';

// The shortest limit of the systems that we run on (macOS); Linux takes 107.
const longestSocketPath = 103;

/**
 * The private folder of the cluster's socket. A server that runs, or ran last,
 * has written its own into the lock file: it counts, because whoever started it
 * may have had another TMPDIR.
 */
export function socketFolder(cluster: string): string {
  const known = fromLockFile(cluster);
  if (known && fs.existsSync(known)) return checked(known, cluster);

  const name = `gatehouse-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`;
  const folder = path.join(temporaryFolder(name), name);
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
    const account = postgresAccount(cluster);
    if (account) fs.chownSync(folder, account.uid, account.gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return checked(folder, cluster);
}

/** https://www.postgresql.org/docs/current/storage-file-layout.html: the fifth line of postmaster.pid. */
function fromLockFile(cluster: string): string | null {
  try {
    return fs.readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n')[4]?.trim() || null;
  } catch {
    return null;
  }
}

function temporaryFolder(name: string): string {
  const folder = fs.realpathSync(os.tmpdir());
  return path.join(folder, name, '.s.PGSQL.5432').length <= longestSocketPath ? folder : '/tmp';
}

/** Everybody may write to the temporary folder, so somebody else may have made ours first, to listen in. */
function checked(folder: string, cluster: string): string {
  const { uid, mode } = fs.lstatSync(folder);
  const owner = postgresAccount(cluster)?.uid ?? process.getuid?.();
  if (fs.lstatSync(folder).isDirectory() && (mode & 0o077) === 0 && (uid === owner || uid === 0)) return folder;

  throw new Error(`The folder ${folder} is not private to this user: remove it, or set TMPDIR to another folder.`);
}
