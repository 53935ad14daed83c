import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const generated = /^(node_modules|build|dist|\.svelte-kit|test-results)$/;
const test = /\.(test|spec|bench)\.ts$/;
/** Components of pages, which have no sub-concepts of their own. */
const components = 'apps/web/src/lib/components';

const files = ['apps', 'packages', 'e2e', 'examples'].flatMap((folder) => sourceIn(folder));

function sourceIn(folder: string): string[] {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return generated.test(entry.name) ? [] : sourceIn(name);
    return /\.(ts|mjs|js|svelte)$/.test(name) ? [name] : [];
  });
}

it('keeps every file at 250 lines or fewer', () => {
  const long = files.filter(
    (file) => fs.readFileSync(path.join(root, file), 'utf8').trimEnd().split('\n').length > 250,
  );
  expect(long).toEqual([]);
});

it('keeps every folder at 15 source files or fewer, tests and components aside', () => {
  const folders = Map.groupBy(
    files.filter((file) => !test.test(file)),
    (file) => path.posix.dirname(file),
  );
  folders.delete(components);
  expect([...folders].filter(([, found]) => found.length > 15).map(([folder]) => folder)).toEqual([]);
});

it('gives each decision a number of its own, and under 40 lines', () => {
  const folder = path.join(root, 'docs/decisions');
  const decisions = fs.readdirSync(folder).sort();
  expect(new Set(decisions.map((name) => name.slice(0, 3))).size).toBe(decisions.length);
  for (const name of decisions) {
    const text = fs.readFileSync(path.join(folder, name), 'utf8');
    expect(text, name).toMatch(new RegExp(`^# ${Number(name.slice(0, 3))}\\. `));
    expect(text.split('\n').length, name).toBeLessThan(41);
  }
});
