import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '../process/log.mjs';

/**
 * Checks the free space on the disk of a folder, which need not exist yet.
 *
 * @throws UserError if there is less than `megabytes`.
 */
export function requireDiskSpace(folder, megabytes) {
  const existing = nearestExisting(folder);
  const { bavail, bsize } = fs.statfsSync(existing);
  const left = Math.floor((bavail * bsize) / 1_000_000);
  if (left < megabytes) {
    throw new UserError(
      `The disk that holds ${folder} has ${left} MB left, and ${megabytes} MB are needed: free some, then run this again.`,
    );
  }
}

function nearestExisting(folder) {
  return fs.existsSync(folder) ? folder : nearestExisting(path.dirname(folder));
}
