import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { alone } from './alone.mjs';
import { run } from './children.mjs';
import { explainInstall } from './explain-install.mjs';
import { installPackages } from './install-packages.mjs';
import { place } from './places.mjs';
import { say, step } from './say.mjs';
import { needSpace } from './space.mjs';

// The first of its line that runs TypeScript as it is.
const oldestNode = [22, 18];
const nodeVersion = '24.21.0';
const pnpmVersion = '12.21.0';
const installMegabytes = 1_500;

/** The node binary that everything runs on: this one, or one of our own where this one is too old. */
export function nodeBinary() {
  if (isRecent(process.versions.node)) return process.execPath;
  return place('.tools', 'node_modules', nodePackage(), 'bin', 'node');
}

/** The environment in which `node` and `pnpm` are ours. */
export function toolEnvironment(environment = process.env) {
  const first = [path.dirname(nodeBinary()), place('.tools', 'node_modules', '.bin')];
  return { ...environment, PATH: [...first, environment.PATH].join(path.delimiter) };
}

/** Brings Node, pnpm and the workspace's packages to where package.json and the lockfile want them. */
export async function bootstrap() {
  if (isInstalled()) return;
  await alone(async () => {
    if (isInstalled()) return;
    needSpace(place(), installMegabytes);
    if (!isRecent(process.versions.node)) {
      say(`Node ${process.versions.node} is older than ${oldestNode.join('.')}: Gatehouse brings its own.`);
      await installTool(`Fetching Node ${nodeVersion} (once, 130 MB)`, nodePackage(), nodeVersion);
    }
    await installTool(`Fetching pnpm ${pnpmVersion} (once)`, 'pnpm', pnpmVersion);
    await step('Installing packages', () => installPackages(toolEnvironment()));
    fs.writeFileSync(stampFile(), fingerprint());
  });
}

/** Installs one package of that version into .tools, if it is not there. */
export async function installTool(name, packageName, version) {
  if (installedVersion(packageName) === version) return;

  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--prefix', place('.tools')];
  fs.mkdirSync(place('.tools'), { recursive: true });
  await step(name, async () => {
    const { code, output } = await run(['npm', 'install', ...flags, `${packageName}@${version}`], process.env);
    if (code !== 0) throw explainInstall(output);
  });
}

function installedVersion(packageName) {
  try {
    return JSON.parse(fs.readFileSync(place('.tools', 'node_modules', packageName, 'package.json'), 'utf8')).version;
  } catch {
    return null;
  }
}

function isInstalled() {
  try {
    return fs.existsSync(nodeBinary()) && fs.readFileSync(stampFile(), 'utf8') === fingerprint();
  } catch {
    return false;
  }
}

/** Inside node_modules, so that whoever removes that removes the stamp with it. */
function stampFile() {
  return place('node_modules', '.gatehouse-installed');
}

function fingerprint() {
  const hash = createHash('sha256').update(`${nodeBinary()} ${pnpmVersion} `);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()]) {
    hash.update(file).update(fs.readFileSync(place(file)));
  }
  return hash.digest('hex');
}

function manifests() {
  const folders = ['apps', 'packages'].flatMap((group) =>
    fs.readdirSync(place(group)).map((name) => `${group}/${name}`),
  );
  const packages = ['.', 'e2e', ...folders].map((folder) => `${folder}/package.json`);
  const patches = fs.readdirSync(place('patches')).map((name) => `patches/${name}`);
  return [...packages, ...patches].filter((file) => fs.existsSync(place(file))).sort();
}

function isRecent(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}

function nodePackage() {
  return `node-${process.platform}-${process.arch}`;
}
