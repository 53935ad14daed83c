import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/** An absolute path from parts relative to the repository's root. */
export function fromRoot(...parts) {
  return path.join(root, ...parts);
}

/** Production's data directory, unless DATA_DIR is set. */
export const productionDirectory = fromRoot('.data');

/** The data directory of `npm start`, separate from production's. */
export function demoDirectory(environment) {
  return path.resolve(root, environment.DATA_DIR || path.join('.data', 'demo'));
}
