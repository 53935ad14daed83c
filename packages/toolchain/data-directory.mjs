import fs from 'node:fs';
import { dataDirectory } from './places.mjs';
import { Sentence } from './say.mjs';
import { needSpace } from './space.mjs';

const startMegabytes = 200;

/** Makes the data directory where there is none; refuses one that this user cannot use, or a full disk. */
export function prepareDataDirectory(environment) {
  const folder = dataDirectory(environment);
  needSpace(folder, startMegabytes);
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return folder;
  } catch (error) {
    throw new Sentence(
      `DATA_DIR (${folder}) belongs to another user or cannot be written (${error.code}): run this as its owner, or set DATA_DIR to a folder of your own.`,
    );
  }
}
