import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * The private folder of the cluster's socket, the same for every process that
 * asks: named after the cluster, and not in TMPDIR where /tmp will do, because
 * the service and the operator may have different ones. Short, because a
 * socket's path is limited to about a hundred characters.
 */
export function socketFolder(cluster: string): string {
  const name = `gatehouse-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`;
  const folder = path.join(temporaryFolder(), name);
  const owner = fs.statSync(cluster);
  if (isOwn(folder, owner.uid)) return folder;

  // All users may write to the temporary folder: another one may have made ours first, to listen in.
  if (fs.lstatSync(folder, { throwIfNoEntry: false }) && process.getuid?.() !== 0) {
    throw new Error(`The folder ${folder} belongs to another user. Remove it, then start again.`);
  }
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { mode: 0o700 });
  if (process.getuid?.() === 0) fs.lchownSync(folder, owner.uid, owner.gid);
  return folder;
}

/** Whether it is a private folder of the user who owns the cluster. */
function isOwn(folder: string, ownerId: number): boolean {
  const found = fs.lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === ownerId && (found.mode & 0o077) === 0;
}

function temporaryFolder(): string {
  try {
    fs.accessSync('/tmp', fs.constants.W_OK);
    return '/tmp';
  } catch {
    return os.tmpdir();
  }
}
