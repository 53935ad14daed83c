import fs from 'node:fs';
import path from 'node:path';

/**
 * Creates a folder and its parents one at a time, because Node's recursive mkdir never returns for a path in /proc.
 *
 * @throws Error of the file system if a folder cannot be created.
 */
export function createFolder(folder: string): void {
  const absolute = path.resolve(folder);
  if (isFolder(absolute)) return;

  if (path.dirname(absolute) !== absolute) createFolder(path.dirname(absolute));
  try {
    fs.mkdirSync(absolute, { mode: 0o700 });
  } catch (error) {
    // Another process created it first, or it is a file.
    if (!isFolder(absolute)) throw error;
  }
}

function isFolder(folder: string): boolean {
  return fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
