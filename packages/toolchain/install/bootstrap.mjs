import fs from 'node:fs';
import path from 'node:path';
import { withFileLock } from '../process/file-lock.mjs';
import { log, step } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { run } from '../process/processes.mjs';
import { readJson } from '../process/read-json.mjs';
import { requireDiskSpace } from './disk-check.mjs';
import { explainInstallFailure } from './explain-install-failure.mjs';
import { fingerprintOf, isFresh } from './stamp.mjs';

// The first 22 release that runs TypeScript without a flag.
const oldestNode = [22, 18];
const nodeVersion = '24.21.0';
const pnpmVersion = '12.21.0';
const installMegabytes = 1_500;

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

/** Installs Node, pnpm and the workspace's packages as package.json and the lockfile require. Does nothing if they are up to date. */
export async function bootstrap() {
  if (isInstalled()) return;
  await withFileLock(async () => {
    if (isInstalled()) return;
    requireDiskSpace(fromRoot(), installMegabytes);
    if (isRecent(process.versions.node)) {
      await installTools(`Fetching pnpm ${pnpmVersion} (once)`, { pnpm: pnpmVersion });
    } else {
      log(
        `Node ${process.versions.node} is older than ${oldestNode.join('.')}: a newer one is downloaded into this folder.`,
      );
      const tools = { [nodePackage()]: nodeVersion, pnpm: pnpmVersion };
      await installTools(`Fetching Node ${nodeVersion} and pnpm ${pnpmVersion} (once, 130 MB)`, tools);
    }
    await step('Installing packages', () => installPackages());
    fs.writeFileSync(stampFile(), fingerprint());
  });
}

/** Installs packages into .tools, unless they are there in these versions. @throws UserError if npm fails. */
export async function installTools(name, versions) {
  const missing = Object.entries(versions).filter(
    ([packageName, version]) => installedVersion(packageName) !== version,
  );
  if (missing.length === 0) return;

  const packages = missing.map(([packageName, version]) => `${packageName}@${version}`);
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--prefix', fromRoot('.tools')];
  fs.mkdirSync(fromRoot('.tools'), { recursive: true });
  await step(name, async () => {
    const { code, output } = await run(['npm', 'install', ...flags, ...packages], process.env);
    if (code !== 0) throw explainInstallFailure(output);
  });
}

/**
 * Installs the packages of the lockfile. With CI set, pnpm asks no questions. Its pauses before it asks an
 * unreachable registry again add up to a minute unless they are shortened.
 *
 * @throws UserError if the installation fails.
 */
async function installPackages() {
  const pauses = { pnpm_config_fetch_retry_mintimeout: '2000', pnpm_config_fetch_retry_maxtimeout: '10000' };
  const env = toolEnvironment({ ...process.env, ...pauses, CI: 'true' });
  const { code, output } = await run(['pnpm', 'install', '--frozen-lockfile'], env);
  if (code !== 0) throw explainInstallFailure(output);
}

function installedVersion(packageName) {
  return readJson(fromRoot('.tools', 'node_modules', packageName, 'package.json'))?.version ?? null;
}

function isInstalled() {
  return isFresh(nodeBinary(), stampFile(), fingerprint);
}

/** In node_modules, so that removing that folder removes the stamp too. */
function stampFile() {
  return fromRoot('node_modules', '.gatehouse-installed');
}

function fingerprint() {
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()];
  return fingerprintOf(files, `${nodeBinary()} ${pnpmVersion} `);
}

function manifests() {
  const folders = ['apps', 'packages', 'examples'].flatMap((group) =>
    fs.readdirSync(fromRoot(group)).map((name) => `${group}/${name}`),
  );
  const packages = ['.', 'e2e', ...folders].map((folder) => `${folder}/package.json`);
  const patches = fs.readdirSync(fromRoot('patches')).map((name) => `patches/${name}`);
  return [...packages, ...patches].filter((file) => fs.existsSync(fromRoot(file))).sort();
}

function isRecent(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}

function nodePackage() {
  return `node-${process.platform}-${process.arch}`;
}
