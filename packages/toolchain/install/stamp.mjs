import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { fromRoot } from '../process/paths.mjs';

/** Returns a hash of the files' names and contents, because a checkout changes the times of old files. */
export function fingerprintOf(files, text = '') {
  const hash = createHash('sha256').update(text);
  for (const file of files) hash.update(file).update(fs.readFileSync(fromRoot(file)));
  return hash.digest('hex');
}

/** Whether the result exists, and the stamp beside it holds the fingerprint that `compute` returns. */
export function isFresh(result, stamp, compute) {
  try {
    return fs.existsSync(result) && fs.readFileSync(stamp, 'utf8') === compute();
  } catch {
    return false;
  }
}
