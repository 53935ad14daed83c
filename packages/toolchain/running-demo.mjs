import fs from 'node:fs';
import path from 'node:path';
import { isPublic, startEnvironment } from './environment.mjs';
import { demoDirectory, fromRoot, productionDirectory } from './paths.mjs';

/**
 * Leaves a note, beside the data, of the `npm start` that runs on it, so that the operator's
 * command finds the same database, providers and mailbox.
 */
export function recordRunningDemo({ port, dataDir }) {
  const file = fileIn(dataDir);
  fs.writeFileSync(file, JSON.stringify({ pid: process.pid, port }));
  process.once('exit', () => {
    if (read(file)?.pid === process.pid) fs.rmSync(file, { force: true });
  });
}

/**
 * The environment of the operator's command: that of the `npm start` which runs, where the user
 * names no other database; the data of one that ran before, where there are no others.
 */
export function operatorEnvironment(persons) {
  if (persons.DATABASE_URL || isPublic(persons) || (!persons.DATA_DIR && envFileNamesDatabase())) return persons;

  const dataDir = demoDirectory(persons);
  const start = read(fileIn(dataDir));
  if (start !== null && isAlive(start.pid)) return startEnvironment(start.port, persons, dataDir);

  const isOnlyData =
    fs.existsSync(path.join(dataDir, 'postgres')) && !fs.existsSync(path.join(productionDirectory, 'postgres'));
  if (persons.DATA_DIR || !isOnlyData || fs.existsSync(envFile)) return persons;
  return { ...persons, DATA_DIR: dataDir };
}

const envFile = fromRoot('.env');

function envFileNamesDatabase() {
  try {
    return /^\s*(export\s+)?(DATABASE_URL|DATA_DIR|PUBLIC_BASE_URL)\s*=\s*\S/m.test(fs.readFileSync(envFile, 'utf8'));
  } catch {
    return false;
  }
}

/** Whether the last `npm start` on this data directory was killed: what it started is still ending, perhaps. */
export function wasKilled(persons) {
  const start = read(fileIn(demoDirectory(persons)));
  return start !== null && !isAlive(start.pid);
}

function fileIn(dataDir) {
  return path.join(dataDir, 'npm-start.json');
}

function read(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
