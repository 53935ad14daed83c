import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const variable = 'GATEHOUSE_E2E_DATA';

/** Returns the folder of the files that every worker of a run reads. It is removed after the run. */
export function runFolder(): string {
  const folder = process.env[variable];
  if (!folder) throw new Error('The run of the browser tests has no folder.');
  return folder;
}

/**
 * Creates the data directory of a service. It holds a copy of a migrated database, which saves each
 * service a third of its start.
 */
export function makeDataDirectory(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-e2e-'));
  // -a keeps the owner, as which PostgreSQL runs.
  execFileSync('cp', ['-a', path.join(runFolder(), 'postgres'), folder]);
  return folder;
}

/** Makes the database that is copied, by `npm run operator -- migrate`, and removes it after the run. */
export default function prepareDataDirectory(): () => void {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-e2e-prepared-'));
  execFileSync(process.execPath, ['packages/toolchain/run.mjs', 'operator', 'migrate'], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: '', DATA_DIR: folder },
    stdio: 'pipe',
  });
  process.env[variable] = folder;
  return () => fs.rmSync(folder, { recursive: true, force: true });
}
