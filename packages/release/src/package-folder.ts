import fs from 'node:fs';
import path from 'node:path';

/** Returns the folder of a package, also if its exports hide package.json; null for modules of Node and the build's own names. */
export function folderOf(require: NodeJS.Require, name: string): string | null {
  for (const modules of require.resolve.paths(name) ?? []) {
    const folder = path.join(modules, name);
    if (fs.existsSync(path.join(folder, 'package.json'))) return fs.realpathSync(folder);
  }
  return null;
}
