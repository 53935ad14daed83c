import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { step, UserError } from './log.mjs';
import { run } from './processes.mjs';

// The first 22 release that runs TypeScript without a flag.
const oldestNode = [22, 18];

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns an absolute path from parts relative to the repository's root. */
export function fromRoot(...parts) {
  return path.join(root, ...parts);
}

/** Returns the Node binary for every program that is started here: the current one, or one in .tools if that is too old. */
export function nodeBinary() {
  if (isRecent(process.versions.node)) return process.execPath;
  return fromRoot('.tools', 'node_modules', nodePackage(), 'bin', 'node');
}

/** Returns the environment with the chosen `node` and `pnpm` first in PATH. */
export function toolEnvironment(environment = process.env) {
  const first = [path.dirname(nodeBinary()), fromRoot('.tools', 'node_modules', '.bin')];
  return { ...environment, PATH: [...first, environment.PATH].join(path.delimiter) };
}

/**
 * Installs Node (where this one is too old) and pnpm into .tools, and the packages of the lockfile. Does nothing if all
 * of it is there: pnpm keeps a copy of the lockfile that it has installed.
 *
 * @throws UserError if the installation fails.
 */
export async function bootstrap() {
  const pnpmVersion = /^pnpm@(.+)$/.exec(JSON.parse(read('package.json')).packageManager)[1];
  const tools = { pnpm: pnpmVersion };
  if (!isRecent(process.versions.node)) tools[nodePackage()] = read('.nvmrc').trim();
  await installTools(tools);
  if (read('pnpm-lock.yaml') === read('node_modules/.pnpm/lock.yaml')) return;

  // With CI set, pnpm asks no questions.
  const env = toolEnvironment({ ...process.env, CI: 'true' });
  await step('Installing packages', () => installWith(['pnpm', 'install', '--frozen-lockfile'], env));
}

/** Installs packages into .tools, unless they are there in these versions. @throws UserError if npm fails. */
export async function installTools(versions) {
  const missing = Object.entries(versions).filter(([tool, version]) => installedVersion(tool) !== version);
  if (missing.length === 0) return;

  fs.mkdirSync(fromRoot('.tools'), { recursive: true });
  // npm waits five minutes for a download that has stalled before it tries again.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const flags = [...quiet, '--fetch-timeout=60000', '--prefix', fromRoot('.tools')];
  const packages = missing.map(([tool, version]) => `${tool}@${version}`);
  const name = `Fetching ${packages.join(' and ')} into .tools (once)`;
  await step(name, () => installWith(['npm', 'install', ...flags, ...packages], process.env));
}

async function installWith(command, env) {
  const { code, output } = await run(command, env);
  if (code === 0) return;
  const lines = output.trim().split('\n').slice(-15).join('\n');
  throw new UserError(
    `${lines}\nThe packages could not be installed. Look at the network (or the proxy in .npmrc), the free space (1.5 GB are needed) and the owner of this folder, then run this again.`,
  );
}

function installedVersion(tool) {
  const manifest = read(`.tools/node_modules/${tool}/package.json`);
  return manifest === null ? null : JSON.parse(manifest).version;
}

/** Returns the text of a file; null if there is none. */
function read(file) {
  const name = fromRoot(file);
  return fs.existsSync(name) ? fs.readFileSync(name, 'utf8') : null;
}

function isRecent(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}

function nodePackage() {
  return `node-${process.platform}-${process.arch}`;
}
