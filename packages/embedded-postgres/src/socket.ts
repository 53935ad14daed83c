import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * Returns the private folder of the cluster's socket, the same for every process: its name is a hash of the
 * cluster's path. It is in /tmp if possible, because the service and the operator may have different
 * TMPDIRs. The path is short, because a socket's path is limited to about a hundred characters.
 *
 * @throws Error if the folder belongs to another user.
 */
export function socketFolder(cluster: string): string {
  const name = `gatehouse-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`;
  const folder = path.join(temporaryFolder(), name);
  const owner = fs.statSync(cluster);
  if (isOwn(folder, owner.uid)) return folder;

  // Every user may write to the temporary folder: another user may have created ours first, to intercept connections.
  if (fs.lstatSync(folder, { throwIfNoEntry: false }) && process.getuid?.() !== 0) {
    throw new Error(`The folder ${folder} belongs to another user. Remove it, then start again.`);
  }
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { mode: 0o700 });
  if (process.getuid?.() === 0) fs.lchownSync(folder, owner.uid, owner.gid);
  return folder;
}

/** Whether the folder is private and belongs to the user who owns the cluster. */
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
