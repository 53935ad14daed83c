import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** A path below the repository's root. */
export function fromRoot(...parts) {
  return path.join(root, ...parts);
}

/** Where production keeps its data, unless DATA_DIR says otherwise: relative to the root, because every command runs there. */
export const productionDirectory = fromRoot('.data');

/** Where `npm start` keeps its data, apart from production's. */
export function demoDirectory(environment) {
  return path.resolve(root, environment.DATA_DIR || path.join('.data', 'demo'));
}
