import fs from 'node:fs';
import path from 'node:path';
import { withFileLock } from '../process/file-lock.mjs';
import { step, UserError } from '../process/log.mjs';
import { fromRoot } from '../process/paths.mjs';
import { run } from '../process/processes.mjs';
import { toolEnvironment } from './bootstrap.mjs';
import { fingerprintOf, isFresh } from './stamp.mjs';

const common = ['pnpm-lock.yaml', 'tsconfig.base.json'];
const api = ['src', 'lean-bundle.ts', 'package.json'].map((name) => `packages/api/${name}`);

/** Each build: the folder of its package, the file that shows that it exists, its output, and its sources. */
export const builds = {
  web: describe('apps/web', 'build/handler.js', [...api, 'patches']),
  server: describe('apps/server', 'dist/main.js', ['packages/embedded-postgres', ...api, 'patches']),
  client: describe('packages/client', 'dist/client.js', []),
  sandbox: describe('packages/sandbox', 'dist/main.js', ['packages/payment-sandbox']),
};

function describe(folder, file, others) {
  const entry = `${folder}/${file}`;
  return { folder, entry, output: path.dirname(entry), sources: [folder, ...others, ...common] };
}

/** The environment of the tests' programs once everything is built, so that they do not compare it with its sources. */
export const isBuilt = { GATEHOUSE_BUILT: '1' };

/** All builds. Production needs no sandbox. */
export const everyBuild = Object.keys(builds);

/** Builds the named builds whose sources have changed, or all of them with `always`. @throws UserError if a build fails. */
export async function build(names, { always = false } = {}) {
  if (!always && (process.env.GATEHOUSE_BUILT === '1' || names.every(isBuiltNow))) return;
  await withFileLock(async () => {
    for (const name of names) {
      if (always || !isBuiltNow(name)) await step(`Building ${builds[name].folder}`, () => buildOne(name));
    }
  });
}

async function buildOne(name) {
  const { folder } = builds[name];
  // Computed before the build, so that a file saved during the build makes it stale.
  const fingerprint = fingerprintOfSources(name);
  fs.rmSync(stampFile(name), { force: true });
  const done = await run(['pnpm', '--dir', folder, 'build'], { ...toolEnvironment(), NODE_ENV: 'production' });
  if (done.code !== 0) {
    const hint = /ENOSPC/.test(done.output) ? 'There is no space left on this disk.' : '';
    throw new UserError(
      `${done.output.trim().split('\n').slice(-40).join('\n')}\nThe build of ${folder} failed. ${hint}`,
    );
  }
  fs.writeFileSync(stampFile(name), fingerprint);
}

function isBuiltNow(name) {
  return isFresh(fromRoot(builds[name].entry), stampFile(name), () => fingerprintOfSources(name));
}

function stampFile(name) {
  return fromRoot(builds[name].output, '.sources');
}

function fingerprintOfSources(name) {
  return fingerprintOf(builds[name].sources.flatMap(filesBelow));
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
