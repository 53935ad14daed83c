import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { postgresAccount } from './postgres-account.ts';

/**
 * The private folder of the cluster's socket, the same for every process that
 * asks: named after the cluster, and not in TMPDIR where /tmp will do, because
 * the service and the operator may have different ones. Short, because a
 * socket's path is limited to about a hundred characters.
 */
export function socketFolder(cluster: string): string {
  const name = `gatehouse-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`;
  const folder = path.join(temporaryFolder(), name);
  const account = postgresAccount(cluster);
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
    if (account) fs.chownSync(folder, account.uid, account.gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }

  // Everybody may write to the temporary folder: somebody else may have made ours first, to listen in.
  const { uid, mode } = fs.lstatSync(folder);
  const ours = uid === process.getuid?.() || uid === account?.uid;
  if (ours && fs.lstatSync(folder).isDirectory() && (mode & 0o077) === 0) return folder;

  throw new Error(`The folder ${folder} belongs to somebody else. Remove it, then start again.`);
}

function temporaryFolder(): string {
  try {
    fs.accessSync('/tmp', fs.constants.W_OK);
    return '/tmp';
  } catch {
    return os.tmpdir();
  }
}
