import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { leanBundle, withLazyBuiltins } from '../../../lean-bundle.ts';

const library = path.dirname(fileURLToPath(import.meta.resolve('pg-boss')));

/** Returns the files of pg-boss that import a package. */
function importersOf(name: string): string[] {
  const files = fs.readdirSync(library).filter((file) => file.endsWith('.js'));
  return files.filter((file) => fs.readFileSync(path.join(library, file), 'utf8').includes(`from '${name}'`));
}

it('only parts of pg-boss that the service does not use import the packages that the builds omit', () => {
  expect([importersOf('pg'), importersOf('rrule-temporal')]).toEqual([['db.js'], ['rrule.js']]);
});

it('the builds get Node’s own modules without reading all of their exports, and import others as before', () => {
  const built = withLazyBuiltins(
    [
      'import fs from "node:fs";',
      'import { randomUUID, hash as digest } from "crypto";',
      'import EventEmitter$1, { once } from "node:events";',
      'import * as http from "http";',
      'import { other } from "../../jobs/chunk.js";',
      'import "node:fs";',
      'const text = `',
      'import late from "node:fs";',
      '`;',
    ].join('\n'),
  );
  const module = (name: string) => `globalThis.process.getBuiltinModule("${name}")`;
  expect(built.split('\n')).toEqual([
    `const fs = ${module('node:fs')};`,
    `const { randomUUID, hash: digest } = ${module('crypto')};`,
    `const EventEmitter$1 = ${module('node:events')}, { once } = ${module('node:events')};`,
    `const http = Object.create(${module('http')}, { default: { value: ${module('http')} } });`,
    'import { other } from "../../jobs/chunk.js";',
    'import "node:fs";',
    'const text = `',
    'import late from "node:fs";',
    '`;',
  ]);
});

it('the builds have what the service imports from rate-limiter-flexible', () => {
  const folder = fileURLToPath(new URL('../..', import.meta.url));
  const imported = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => /import \{ (.+) \} from 'rate-limiter-flexible'/.exec(fs.readFileSync(`${folder}/${file}`, 'utf8')))
    .flatMap((found) => found?.[1]?.split(', ') ?? []);
  const built = leanBundle().load(fileURLToPath(import.meta.resolve('rate-limiter-flexible'))) ?? '';
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter((name) => !built.includes(`exports.${name} = require('./lib/${name}')`))).toEqual([]);
});
