import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeDatabase } from './database/describe-database.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-env-'));
beforeAll(() =>
  fs.writeFileSync(path.join(folder, '.env'), 'export PORT="eighty"\n# RATE_LIMITS=maybe\nLOG_LEVEL=loud\n'),
);
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

async function printedBy(env: NodeJS.ProcessEnv) {
  const { ended, output } = runProgram(new URL('main.ts', import.meta.url), [], env, folder);
  await ended;
  return output();
}

it('the service reads .env in the working directory, and non-empty environment variables take precedence', async () => {
  expect(await printedBy({})).toMatch(/^PORT must be .+\nLOG_LEVEL must be .+\n$/);
  expect(await printedBy({ PORT: ' ', LOG_LEVEL: 'info' })).toMatch(/^PORT must be .+\n$/);
});

it.each([
  ['postgres://user:a-password@db1:5432,db2/gatehouse?x=1', 'Database: gatehouse at db1:5432,db2'],
  ['postgres://gatehouse@localhost/gatehouse?host=%2Frun%2Fdb', 'Database: gatehouse at /run/db'],
  ['postgres://db', 'Database: the default one at db'],
])('describes the database of %s without its password', (databaseUrl, description) => {
  expect(describeDatabase({ databaseUrl, dataDir: '.data' })).toBe(description);
});
