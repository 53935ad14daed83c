import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeDatabase } from './database/describe-database.ts';
import { isRelease, loadEnvFile, parseEnvFile } from './env-file.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-env-'));
beforeAll(() => fs.writeFileSync(path.join(folder, '.env'), 'PORT="eighty"\n# RATE_LIMITS=maybe\nLOG_LEVEL=loud\n'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

async function printedBy(env: NodeJS.ProcessEnv) {
  const { ended, output } = runProgram(new URL('main.ts', import.meta.url), [], env, folder);
  await ended;
  return output();
}

it('the service reads .env in the working directory, and non-empty environment variables take precedence', async () => {
  expect(await printedBy({ PORT: ' ', LOG_LEVEL: 'info' })).toMatch(/^PORT must be .+\n$/);
});

it.each([
  ['postgres://user:a-password@db1:5432,db2/gatehouse?x=1', 'Database: gatehouse at db1:5432,db2'],
  ['postgres://gatehouse@localhost/gatehouse?host=%2Frun%2Fdb', 'Database: gatehouse at /run/db'],
  ['postgres://db', 'Database: the default one at db'],
])('describes the database of %s without its password', (databaseUrl, description) => {
  expect(describeDatabase({ databaseUrl, dataDir: '.data' })).toBe(description);
});

// What systemd 252 makes of each: src/basic/env-file.c, and its test src/test/test-env-file.c.
const read: [text: string, values: Record<string, string>][] = [
  ['BRAND_COLOR=#0a6c6c', { BRAND_COLOR: '#0a6c6c' }],
  ['A=b # c', { A: 'b # c' }],
  ['A="b" # c', { A: 'b# c' }],
  ['# A=1\n  ; B=2\n C = 3 ', { C: '3' }],
  ['A="#1 \\"two\\" \\n $"', { A: '#1 "two" \\n $' }],
  ['A=\'#1 \\ "two"\'', { A: '#1 \\ "two"' }],
  ['A="one"\'two\' three', { A: 'onetwothree' }],
  ['A=one"two"', { A: 'one"two"' }],
  ['A="one\ntwo"\nB=3', { A: 'one\ntwo', B: '3' }],
  ['A=one\\\ntwo\nB=3', { A: 'onetwo', B: '3' }],
  ['A=a\\b\\\\c\\ ', { A: 'ab\\c ' }],
  ['A=\nB=', { A: '', B: '' }],
  ['A=1\r\nB=2\r\n', { A: '1', B: '2' }],
  ['A=1\nA=2', { A: '2' }],
  ['A=b=c', { A: 'b=c' }],
  ['export A=1\nnonsense\nB=2', { B: '2' }],
  ['A="never closed\n', { A: 'never closed\n' }],
  ['A=ü', { A: 'ü' }],
];
it.each(read)('%j is read as systemd reads it', (text, values) => {
  expect(Object.fromEntries(parseEnvFile(text).values)).toEqual(values);
});

it('warns of lines that are ignored, and of a # that other programs take for a comment', () => {
  expect(parseEnvFile('# A comment.\nexport A=1\nB=#2\nC="#3"\nnonsense').warnings).toEqual([
    'line 2 is ignored, because it is not of the form NAME=VALUE.',
    'B has a # outside quotes, which belongs to its value: put the value into double quotes.',
    'line 5 is ignored, because it is not of the form NAME=VALUE.',
  ]);
});

it('one file is read: the named one, else .env, and a named one must be there', () => {
  const named = path.join(folder, 'named.env');
  fs.writeFileSync(named, 'PORT=4000\nHOST=::1\n');
  const environment: NodeJS.ProcessEnv = { GATEHOUSE_ENV_FILE: named, HOST: '127.0.0.1', PORT: ' ' };
  expect(loadEnvFile(environment, true)).toEqual([]);
  expect(environment).toEqual({ GATEHOUSE_ENV_FILE: named, HOST: '127.0.0.1', PORT: '4000' });
  expect(() => loadEnvFile({ GATEHOUSE_ENV_FILE: `${named}.old` }, true)).toThrow(/named\.env\.old does not exist: /);
  expect(loadEnvFile({ GATEHOUSE_ENV_FILE: 'off' }, true)).toEqual([]);
});

it('an unpacked release is told apart from a build', () => {
  expect(isRelease('/opt/gatehouse/current/operator.js')).toBe(true);
  expect(isRelease('/opt/gatehouse/current/server.js')).toBe(true);
  expect(isRelease('/src/apps/server/dist/operator.js')).toBe(false);
  expect(isRelease('/src/apps/server/dist/main.js')).toBe(false);
});
