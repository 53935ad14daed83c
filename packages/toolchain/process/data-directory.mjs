import fs from 'node:fs';
import { requireDiskSpace } from '../install/disk-check.mjs';
import { UserError } from './log.mjs';
import { demoDirectory } from './paths.mjs';

const startMegabytes = 200;

/** Creates the demo's data directory if it is missing. @throws UserError if this user cannot use it or the disk is full. */
export function prepareDataDirectory(environment) {
  const folder = demoDirectory(environment);
  requireDiskSpace(folder, startMegabytes);
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return folder;
  } catch (error) {
    throw new UserError(
      `DATA_DIR (${folder}) belongs to another user or cannot be written (${error.code}): run this as its owner, or set DATA_DIR to a folder of your own.`,
    );
  }
}
