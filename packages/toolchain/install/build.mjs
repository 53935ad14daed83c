import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { withFileLock } from '../process/file-lock.mjs';
import { step, UserError } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { run } from '../process/processes.mjs';
import { toolEnvironment } from './bootstrap.mjs';

const shared = [
  'packages/api/src',
  'packages/api/lean-bundle.ts',
  'packages/api/package.json',
  'pnpm-lock.yaml',
  'patches',
  'tsconfig.base.json',
];

/** Each build: its package, its output, the file that shows that it exists, and its sources. */
export const builds = {
  web: {
    package: '@gatehouse/web',
    output: 'apps/web/build',
    entry: 'apps/web/build/handler.js',
    sources: ['apps/web', ...shared],
  },
  server: {
    package: '@gatehouse/server',
    output: 'apps/server/dist',
    entry: 'apps/server/dist/main.js',
    sources: ['apps/server', 'packages/embedded-postgres', ...shared],
  },
  client: {
    package: '@gatehouse/client',
    output: 'packages/client/dist',
    entry: 'packages/client/dist/client.js',
    sources: ['packages/client', 'pnpm-lock.yaml', 'tsconfig.base.json'],
  },
  sandbox: {
    package: '@gatehouse/sandbox',
    output: 'packages/sandbox/dist',
    entry: 'packages/sandbox/dist/main.js',
    sources: ['packages/sandbox', 'packages/payment-sandbox', 'pnpm-lock.yaml', 'tsconfig.base.json'],
  },
};

/** Tells the programs of the tests that everything is built, so that they need not compare it with its sources. */
export const isBuilt = { GATEHOUSE_BUILT: '1' };

/** All of them. Production needs no sandbox. */
export const everyBuild = Object.keys(builds);

/** Builds the named builds whose sources have changed, or all of them with `always`. @throws UserError if a build fails. */
export async function build(names, { always = false } = {}) {
  if (!always && (process.env.GATEHOUSE_BUILT === '1' || names.every(isFresh))) return;
  await withFileLock(async () => {
    for (const name of names) {
      if (always || !isFresh(name)) await step(`Building ${builds[name].package}`, () => buildOne(name));
    }
  });
}

async function buildOne(name) {
  const { package: packageName, output } = builds[name];
  // Computed before the build, so that a file saved during the build makes it stale.
  const print = fingerprint(name);
  fs.rmSync(stampFile(name), { force: true });
  const done = await run(['pnpm', '--filter', packageName, 'build'], { ...toolEnvironment(), NODE_ENV: 'production' });
  if (done.code !== 0) {
    const hint = /ENOSPC/.test(done.output) ? 'There is no space left on this disk.' : '';
    throw new UserError(
      `${done.output.trim().split('\n').slice(-40).join('\n')}\nThe build of ${packageName} failed. ${hint}`,
    );
  }
  fs.writeFileSync(path.join(fromRoot(output), '.sources'), print);
}

function isFresh(name) {
  try {
    return (
      fs.existsSync(fromRoot(builds[name].entry)) && fs.readFileSync(stampFile(name), 'utf8') === fingerprint(name)
    );
  } catch {
    return false;
  }
}

function stampFile(name) {
  return fromRoot(builds[name].output, '.sources');
}

/** A hash of contents, because a checkout changes the times of old files. */
function fingerprint(name) {
  const hash = createHash('sha256');
  for (const file of builds[name].sources.flatMap(filesBelow))
    hash.update(file).update(fs.readFileSync(fromRoot(file)));
  return hash.digest('hex');
}

const notSources = new Set(['node_modules', 'build', 'dist', '.svelte-kit', 'testing']);

function filesBelow(source) {
  const found = fs.statSync(fromRoot(source), { throwIfNoEntry: false });
  if (!found) return [];
  if (!found.isDirectory()) return [source];

  return fs
    .readdirSync(fromRoot(source), { withFileTypes: true })
    .filter(({ name }) => !notSources.has(name) && !/\.test\.ts$|^\.|~$/.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => filesBelow(`${source}/${entry.name}`));
}
