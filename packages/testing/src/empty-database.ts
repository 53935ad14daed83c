import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { isRunning } from '@gatehouse/embedded-postgres/cluster';
import { openEmbedded, temporary } from '@gatehouse/embedded-postgres/embedded-postgres';

export type EmptyDatabase = { url: string; close: () => Promise<void> };

const unusedDays = 30;
const copyOf = /^copy-(\d+)-/;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Starts PostgreSQL on a copy of a cluster that has the migrations, which the first start of a build on this machine
 * makes. Its creation takes some seconds, a copy a tenth of one.
 *
 * @throws Error with a sentence if there is no PostgreSQL for this platform, or no folder for it.
 */
export async function openEmptyDatabase(): Promise<EmptyDatabase> {
  const cache = cacheFolder();
  removeAbandoned(cache);
  const template = path.join(cache, `template-${schemaVersion()}`);
  if (!fs.existsSync(template)) await makeTemplate(cache, template);
  const now = new Date();
  fs.utimesSync(template, now, now);

  const folder = newFolder(cache);
  // With its owner, which under root is another user: cpSync has no option for that.
  await promisify(execFile)('cp', ['-Rp', path.join(template, 'postgres'), folder]);
  const server = await openEmbedded(folder, { settings: temporary });
  return {
    url: server.url,
    async close() {
      await server.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The folder's name holds this process's id, by which a later start finds it after a kill -9. */
function newFolder(cache: string): string {
  return fs.mkdtempSync(path.join(cache, `copy-${process.pid}-`));
}

/** Makes the template under another name and renames it: of two that are made at the same time, one stays. */
async function makeTemplate(cache: string, template: string): Promise<void> {
  const unfinished = newFolder(cache);
  try {
    const server = await openEmbedded(unfinished, { settings: temporary });
    try {
      const [{ createApp }, { parseConfig }] = await Promise.all([
        import('@gatehouse/api/create-app'),
        import('@gatehouse/api/platform/config'),
      ]);
      const config = parseConfig({ DATABASE_URL: server.url });
      const app = await createApp({ config, work: false, migrates: true, log: silent });
      await app.close();
    } finally {
      await server.stop();
    }
    fs.renameSync(unfinished, template);
  } catch (error) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    if (!fs.existsSync(template)) throw error;
  }
}

/** Names the migrations of this build. */
function schemaVersion(): string {
  const migrations = new URL('migrations/', import.meta.resolve('@gatehouse/api/bundle'));
  const hash = createHash('sha256');
  for (const entry of fs.readdirSync(migrations, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) hash.update(fs.readFileSync(path.join(entry.parentPath, entry.name)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Returns a folder of this user alone. @throws Error if another user has taken its name. */
function cacheFolder(): string {
  const folder = path.join(os.tmpdir(), `gatehouse-testing-${os.userInfo().uid}`);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = fs.lstatSync(folder);
  if (uid !== os.userInfo().uid || (mode & 0o077) !== 0)
    throw new Error(`${folder} belongs to another user, or others may enter it: remove it, or set TMPDIR.`);
  return folder;
}

/** Removes the copies of processes that were killed, and templates that no start has used for a month. */
function removeAbandoned(cache: string): void {
  for (const name of fs.readdirSync(cache)) {
    const folder = path.join(cache, name);
    const pid = Number(copyOf.exec(name)?.[1]);
    const isAbandoned = pid ? !isRunning(pid) : ageDays(folder) > unusedDays;
    if (!isAbandoned) continue;
    try {
      fs.rmSync(folder, { recursive: true, force: true });
    } catch {
      // The PostgreSQL of that process still shuts down, and the folder is not empty: a later start removes it.
    }
  }
}

function ageDays(folder: string): number {
  const modified = fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return (Date.now() - modified) / 86_400_000;
}
