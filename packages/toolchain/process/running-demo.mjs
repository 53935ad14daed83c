import fs from 'node:fs';
import path from 'node:path';
import { isPublic, startEnvironment } from './environment.mjs';
import { demoDirectory, fromRoot, productionDirectory } from './paths.mjs';
import { isAlive } from './processes.mjs';
import { readJson } from './read-json.mjs';

/**
 * Writes the process id and port of this `npm start` into its data directory until it ends, so that
 * admin commands find the same database, providers and mailbox.
 */
export function recordRunningDemo({ port, dataDir }) {
  const file = fileIn(dataDir);
  fs.writeFileSync(file, JSON.stringify({ pid: process.pid, port }));
  process.once('exit', () => {
    if (readJson(file)?.pid === process.pid) fs.rmSync(file, { force: true });
  });
}

/**
 * Returns the environment of an admin command. If the user names no other database, it is the
 * environment of the running `npm start`, or the data of the last one if there is no other data.
 */
export function operatorEnvironment(environment) {
  if (environment.DATABASE_URL || isPublic(environment) || (!environment.DATA_DIR && envFileNamesDatabase()))
    return environment;

  const dataDir = demoDirectory(environment);
  const start = readJson(fileIn(dataDir));
  if (start !== null && isAlive(start.pid)) return startEnvironment(start.port, environment, dataDir);

  const isOnlyData =
    fs.existsSync(path.join(dataDir, 'postgres')) && !fs.existsSync(path.join(productionDirectory, 'postgres'));
  if (environment.DATA_DIR || !isOnlyData || fs.existsSync(envFile)) return environment;
  return { ...environment, DATA_DIR: dataDir };
}

const envFile = fromRoot('.env');

function envFileNamesDatabase() {
  try {
    return /^\s*(export\s+)?(DATABASE_URL|DATA_DIR|PUBLIC_BASE_URL)\s*=\s*\S/m.test(fs.readFileSync(envFile, 'utf8'));
  } catch {
    return false;
  }
}

/** Whether the last `npm start` on this data directory was killed. Its processes may still be shutting down. */
export function wasKilled(environment) {
  const start = readJson(fileIn(demoDirectory(environment)));
  return start !== null && !isAlive(start.pid);
}

function fileIn(dataDir) {
  return path.join(dataDir, 'npm-start.json');
}
