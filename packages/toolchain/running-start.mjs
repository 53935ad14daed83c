import fs from 'node:fs';
import path from 'node:path';
import { dataDirectory } from './places.mjs';
import { startEnvironment } from './surroundings.mjs';

/**
 * Leaves word, beside the data, of the `npm start` that runs on it, so that the operator's
 * command finds the same providers and mailbox. A start on a database by name leaves none:
 * whoever names one names the rest too.
 */
export function rememberStart({ port, dataDir, environment }) {
  if (environment.DATABASE_URL) return;
  const file = fileIn(dataDir);
  fs.writeFileSync(file, JSON.stringify({ pid: process.pid, port }));
  process.once('exit', () => {
    if (read(file)?.pid === process.pid) fs.rmSync(file, { force: true });
  });
}

/** The environment of the `npm start` that runs on this person's data directory, theirs winning; else their own. */
export function environmentBeside(persons) {
  const start = persons.DATABASE_URL ? null : read(fileIn(dataDirectory(persons)));
  return start !== null && isAlive(start.pid) ? startEnvironment(start.port, persons) : persons;
}

/** Whether the last `npm start` on this person's data directory was killed: what it started is still ending, perhaps. */
export function wasKilled(persons) {
  const start = read(fileIn(dataDirectory(persons)));
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
