import fs from 'node:fs';
import path from 'node:path';
import { requireDiskSpace } from './disk-check.mjs';
import { log, UserError } from './log.mjs';
import { demoDirectory, productionDirectory } from './paths.mjs';

const startMegabytes = 200;

/** Makes the demo's data directory where there is none; refuses one that this user cannot use, or a full disk. */
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

/** Earlier versions kept the data of `npm start` where production keeps its own. */
function mentionEarlierData(environment, folder) {
  const isEarlier = fs.existsSync(path.join(productionDirectory, 'sandbox'));
  if (environment.DATA_DIR || fs.existsSync(folder) || !isEarlier) return;

  log('npm start keeps its data in .data/demo now. What an earlier version left in .data stays as it is:');
  log('DATA_DIR=.data npm start goes on with it, rm -r .data removes it.');
}
