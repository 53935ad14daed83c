import fs from 'node:fs';
import path from 'node:path';

/** Makes a folder and those above it, one at a time: Node's own recursive way never comes back from /proc. */
export function makeFolder(folder: string): void {
  const whole = path.resolve(folder);
  if (isFolder(whole)) return;

  if (path.dirname(whole) !== whole) makeFolder(path.dirname(whole));
  try {
    fs.mkdirSync(whole, { mode: 0o700 });
  } catch (error) {
    // Somebody else was faster, or it is no folder.
    if (!isFolder(whole)) throw error;
  }
}

function isFolder(place: string): boolean {
  return fs.statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
