import fs from 'node:fs';
import path from 'node:path';
import { UserError } from './log.mjs';

/** Refuses where the disk of this folder, which need not exist yet, has less than that left. */
export function requireDiskSpace(folder, megabytes) {
  const existing = nearest(folder);
  const { bavail, bsize } = fs.statfsSync(existing);
  const left = Math.floor((bavail * bsize) / 1_000_000);
  if (left < megabytes) {
    throw new UserError(
      `The disk that holds ${folder} has ${left} MB left and this takes ${megabytes} MB: free some, then run this again.`,
    );
  }
}

function nearest(folder) {
  return fs.existsSync(folder) ? folder : nearest(path.dirname(folder));
}
