import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fromRoot } from './bootstrap.mjs';
import { isPublic, startEnvironment } from './environment.mjs';
import { UserError } from './log.mjs';
import { isAlive } from './processes.mjs';

const loopbacks = ['127.0.0.1', '::1'];

/** The longest time that a service takes to shut down. */
const endingMilliseconds = 25_000;

/** The data directory of `npm start`, separate from production's. */
function demoDirectory(environment) {
  return path.resolve(fromRoot(), environment.DATA_DIR || path.join('.data', 'demo'));
}

/** Creates the demo's data directory if it is missing. @throws UserError if this user cannot use it. */
export function prepareDataDirectory(environment) {
  const folder = demoDirectory(environment);
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return folder;
  } catch (error) {
    throw new UserError(
      `DATA_DIR (${folder}) belongs to another user or cannot be written (${error.code}): run this as its owner, or set DATA_DIR to a folder of your own.`,
    );
  }
}

/**
 * Returns the port of the service; the next two are the sandbox's, a fourth and fifth the
 * example's. If the last start was killed, waits for its processes to release the ports.
 *
 * @throws UserError if PORT is invalid or one of the ports is in use.
 */
export async function choosePort(environment, count) {
  const port = Number(environment.PORT || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_531) {
    throw new UserError(
      `PORT is ${environment.PORT}, which is not a port from 1 to 65531: choose another, for example PORT=3000.`,
    );
  }

  const giveUpAt = Date.now() + (wasKilled(environment) ? endingMilliseconds : 0);
  let taken = await firstTaken(port, count);
  while (taken !== null && Date.now() < giveUpAt) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    taken = await firstTaken(port, count);
  }
  if (taken === null) return port;

  throw new UserError(
    `Port ${taken} is in use. Stop what listens there, or choose another: PORT=${await firstFree(port + 100, count)} (it takes that port and the ${count - 1} after it).`,
  );
}

async function firstFree(port, count) {
  if (port > 65_000) return 3000;
  return (await firstTaken(port, count)) === null ? port : firstFree(port + 100, count);
}

async function firstTaken(port, count) {
  for (let each = port; each < port + count; each++) if (!(await isFree(each))) return each;
  return null;
}

/**
 * Checks both loopback addresses, because browsers try ::1 for localhost first. Connects instead of
 * listening, so that two concurrent checks do not disturb each other.
 */
async function isFree(port) {
  for (const host of loopbacks) if (await answers(port, host)) return false;
  return true;
}

function answers(port, host) {
  const socket = net.connect({ port, host });
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}

/**
 * Writes the process id and port of this `npm start` into its data directory until it ends, so that
 * admin commands find the same database, providers and mailbox.
 */
export function recordRunningDemo({ port, dataDir, publicBaseUrl }) {
  const file = recordIn(dataDir);
  fs.writeFileSync(file, JSON.stringify({ pid: process.pid, port, publicBaseUrl }));
  process.once('exit', () => {
    if (readJson(file)?.pid === process.pid) fs.rmSync(file, { force: true });
  });
}

/** Whether the last `npm start` on this data directory was killed. Its processes may still be shutting down. */
function wasKilled(environment) {
  const start = readJson(recordIn(demoDirectory(environment)));
  return start !== null && !isAlive(start.pid);
}

/**
 * Returns the environment of an admin command. If the user names no other database, it is the
 * environment of the running `npm start`, or the data of the last one if there is no other data.
 */
export function operatorEnvironment(environment) {
  if (environment.DATABASE_URL || isPublic(environment) || (!environment.DATA_DIR && envFileNamesDatabase()))
    return environment;

  const dataDir = demoDirectory(environment);
  const start = readJson(recordIn(dataDir));
  if (start !== null && isAlive(start.pid)) {
    const base = { PUBLIC_BASE_URL: start.publicBaseUrl ?? `http://localhost:${start.port}` };
    return startEnvironment(start.port, { ...base, ...environment }, dataDir);
  }

  const isOnlyData = fs.existsSync(path.join(dataDir, 'postgres')) && !fs.existsSync(fromRoot('.data', 'postgres'));
  if (environment.DATA_DIR || !isOnlyData || fs.existsSync(fromRoot('.env'))) return environment;
  return { ...environment, DATA_DIR: dataDir };
}

function envFileNamesDatabase() {
  const file = fromRoot('.env');
  const names = /^\s*(export\s+)?(DATABASE_URL|DATA_DIR|PUBLIC_BASE_URL)\s*=\s*\S/m;
  return fs.existsSync(file) && names.test(fs.readFileSync(file, 'utf8'));
}

function recordIn(dataDir) {
  return path.join(dataDir, 'npm-start.json');
}

/** Returns the value of a JSON file; null if there is none. */
function readJson(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : null;
}
