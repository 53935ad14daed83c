import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** A path below the repository's root. */
export function place(...parts) {
  return path.join(root, ...parts);
}

/** Where the service keeps its data: relative to the root, because every command runs there. */
export function dataDirectory(environment) {
  return path.resolve(root, environment.DATA_DIR || '.data');
}
