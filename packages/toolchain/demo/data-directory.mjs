import fs from 'node:fs';
import path from 'node:path';
import { requireDiskSpace } from '../install/disk-check.mjs';
import { log, UserError } from '../process/log.mjs';
import { demoDirectory, productionDirectory } from '../process/paths.mjs';

const startMegabytes = 200;

/** Creates the demo's data directory if it is missing. @throws UserError if this user cannot use it or the disk is full. */
export function prepareDataDirectory(environment) {
  const folder = demoDirectory(environment);
  mentionEarlierData(environment, folder);
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

/** Earlier versions kept the data of `npm start` in the folder of production's data. */
function mentionEarlierData(environment, folder) {
  const isEarlier = fs.existsSync(path.join(productionDirectory, 'sandbox'));
  if (environment.DATA_DIR || fs.existsSync(folder) || !isEarlier) return;

  log('npm start stores its data in .data/demo now. The data of an earlier version in .data was not changed:');
  log('DATA_DIR=.data npm start uses it, rm -r .data removes it.');
}
