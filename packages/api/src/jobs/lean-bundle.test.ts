import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { leanBundle } from '../../lean-bundle.ts';

const library = path.dirname(fileURLToPath(import.meta.resolve('pg-boss')));

/** Returns the files of pg-boss that import a package. */
function importersOf(name: string): string[] {
  const files = fs.readdirSync(library).filter((file) => file.endsWith('.js'));
  return files.filter((file) => fs.readFileSync(path.join(library, file), 'utf8').includes(`from '${name}'`));
}

it('only parts of pg-boss that the service does not use import the packages that the builds omit', () => {
  expect([importersOf('pg'), importersOf('rrule-temporal')]).toEqual([['db.js'], ['rrule.js']]);
});

it('the replacement of node:http has every name that the builds import', async () => {
  const { resolveId, load } = leanBundle();
  const text = load(resolveId('node:http') ?? '') ?? '';
  const names =
    /const \{([^}]+)\}/
      .exec(text)?.[1]
      ?.split(',')
      .map((name) => name.trim()) ?? [];
  const http: Record<string, unknown> = await import('node:http');
  expect(names.filter((name) => http[name] === undefined)).toEqual([]);
  expect(resolveId('http')).toBe(resolveId('node:http'));
  expect(resolveId('node:https')).toBeUndefined();
});

it('the builds have what the service imports from rate-limiter-flexible', () => {
  const source = fs.readFileSync(new URL('../security/throttle.ts', import.meta.url), 'utf8');
  const imported = /import \{ (.+) \} from 'rate-limiter-flexible'/.exec(source)?.[1]?.split(', ') ?? [];
  const built = leanBundle().load(fileURLToPath(import.meta.resolve('rate-limiter-flexible'))) ?? '';
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter((name) => !built.includes(`exports.${name} = require('./lib/${name}')`))).toEqual([]);
});
