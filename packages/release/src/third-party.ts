import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { folderOf } from './package-folder.ts';

/** A package that the builds contain or may contain, with the text of its licence. */
export type ThirdParty = { name: string; version: string; title: string; text: string };

/** The packages whose sources the builds contain. */
const sources = [
  'apps/web',
  'apps/server',
  'packages/api',
  'packages/languages',
  'packages/embedded-postgres',
  // Of packages/testing, which imports no other package.
  'packages/sandbox',
  'packages/payment-sandbox',
];
const licenceFile = /^(licen[cs]e|copying|notice)/i;

/** Returns all packages that the builds contain or may contain: those that the sources import, and their dependencies. */
export function thirdParties(root: string): ThirdParty[] {
  const found = new Map<string, ThirdParty>();
  for (const source of sources) {
    const require = createRequire(path.join(root, source, 'package.json'));
    for (const name of importsBelow(path.join(root, source, 'src'))) collect(require, name, found);
  }
  return [...found.values()].sort((a, b) => (a.title < b.title ? -1 : 1));
}

/** Returns the licences of packages. The licences require that copies come with a text of theirs. */
export function licencesOf(packages: ThirdParty[]): string {
  return packages.map(({ title, text }) => `${'='.repeat(78)}\n${title}\n\n${text.trim()}\n`).join('\n');
}

/** Returns the names of the packages that the files of a folder import. */
function importsBelow(folder: string): Set<string> {
  const names = new Set<string>();
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || !/\.(ts|svelte|css)$/.test(file) || /\.test\.ts$|\/testing\//.test(file)) continue;
    const text = fs.readFileSync(file, 'utf8');
    for (const [, imported] of text.matchAll(/(?:from|import|import\() ?['"]((?:@[\w-]+\/)?[\w][\w.-]*)/g)) {
      if (imported !== undefined && !imported.startsWith('@gatehouse/')) names.add(imported);
    }
  }
  return names;
}

function collect(require: NodeJS.Require, name: string, found: Map<string, ThirdParty>): void {
  const folder = folderOf(require, name);
  if (folder === null) return;
  const about = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const title = `${about.name} ${about.version} (${about.license ?? 'no licence named'})`;
  if (found.has(title)) return;

  const files = fs.readdirSync(folder).filter((file) => licenceFile.test(file));
  const texts = files.map((file) => fs.readFileSync(path.join(folder, file), 'utf8'));
  found.set(title, {
    name: about.name,
    version: about.version,
    title,
    text: texts.join('\n\n') || `Its package has no text: ${about.homepage ?? about.name}`,
  });
  const own = createRequire(path.join(folder, 'package.json'));
  for (const dependency of Object.keys(about.dependencies ?? {})) collect(own, dependency, found);
}
