import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net, { type AddressInfo, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase } from '@gatehouse/api/platform/db/client';
import { createTestDatabase, migrationsFolder } from '@gatehouse/api/testing/database/database';
import { runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterAll, beforeAll, expect, it } from 'vitest';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-operator-'));
const file = path.join(folder, 'file');
// Beside the packages that a build does not contain.
const build = fs.mkdtempSync(fileURLToPath(new URL('../node_modules/.operator-', import.meta.url)));

// A start of the build takes a seventh of the time of a start from the sources.
beforeAll(() => {
  fs.writeFileSync(file, '');
  fs.writeFileSync(path.join(folder, '.env'), 'PORT="eighty"\n# RATE_LIMITS=maybe\nLOG_LEVEL=loud\n');
  // `npm test` has just built it.
  if (process.env.GATEHOUSE_BUILT === '1') {
    fs.cpSync(new URL('../dist', import.meta.url), build, { recursive: true });
    return;
  }
  const tsdown = fileURLToPath(new URL('../node_modules/tsdown/dist/run.mjs', import.meta.url));
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, [tsdown, '--out-dir', build], { cwd, stdio: 'pipe' });
  fs.cpSync(migrationsFolder, path.join(build, 'migrations'), { recursive: true });
});
afterAll(() => {
  for (const made of [folder, build]) fs.rmSync(made, { recursive: true, force: true });
});

// Nothing listens on port 1.
const unreachable = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/gatehouse' };
const unknown = { DATABASE_URL: (process.env.TEST_DATABASE_URL ?? '').replace(/\/gatehouse(?=\?|$)/, '/unknown') };

async function operator(args: string[], env: NodeJS.ProcessEnv) {
  const program = pathToFileURL(path.join(build, 'operator.js'));
  const { ended, output } = runProgram(program, args, { DATA_DIR: folder, GATEHOUSE_ENV_FILE: 'off', ...env }, folder);
  return { code: (await ended).code, printed: output() };
}

const failures: [name: string, args: string[], env: NodeJS.ProcessEnv, code: number, printed: RegExp][] = [
  ['an unknown command', ['aprove'], unreachable, 2, /^Unknown command 'aprove'\s+\(Did you mean approve\?\)\n/],
  ['a wrong option', ['revoke', 'a@b.example', '--force'], unreachable, 2, /^Unknown option '--force'\.\n/],
  ['a wrong value', ['list'], { PORT: 'eighty' }, 1, /^PORT must be .*\n$/],
  [
    'an unreachable database',
    ['list'],
    unreachable,
    1,
    /^The database does not answer \(ECONNREFUSED\): .*DATABASE_URL\.\n$/,
  ],
  ['a missing database', ['list'], unknown, 1, /^The database refuses: .*DATABASE_URL\.\n$/],
  ['a data directory that is a file', ['list'], { DATA_DIR: file }, 1, /^DATA_DIR \(.*\) cannot be used .*\n$/],
  ['a missing PLANS_FILE', ['list'], { ...unreachable, PLANS_FILE: '/nowhere' }, 1, /^PLANS_FILE: \/nowhere .*\n$/],
];

it.each(failures)(
  '%s: the command prints a sentence and exits with a code other than 0',
  async (_name, args, env, code, printed) => {
    expect(await operator(args, env)).toEqual({ code, printed: expect.stringMatching(printed) });
  },
);

it('admin commands read .env in the working directory', async () => {
  const { printed } = await operator(['list'], { GATEHOUSE_ENV_FILE: '' });
  expect(printed).toMatch(/^PORT must be .+\nLOG_LEVEL must be .+\n$/);
});

it('with GATEHOUSE_ENV_FILE=off admin commands do not read .env', async () => {
  const { printed } = await operator(['list'], { GATEHOUSE_ENV_FILE: 'off', ...unreachable });
  expect(printed).toMatch(/^The database does not answer/);
});

it('the wait for a database that never responds has a timeout', async () => {
  const held: Socket[] = [];
  const server = net.createServer((socket) => held.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const { code, printed } = await operator(['list'], { DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/gatehouse` });
  for (const socket of held) socket.destroy();
  server.close();
  expect([code, printed]).toEqual([1, expect.stringMatching(/^The database does not answer .*DATABASE_URL\.\n$/)]);
});

it('the doctor reports an unavailable database along with its other findings', async () => {
  // Nothing listens on port 1, while a service may run on the default port.
  const { code, printed } = await operator(['doctor'], { ...unreachable, PORT: '1' });

  expect(code).toBe(1);
  expect(printed).toMatch(/^WRONG {2}Database: The database does not answer \(ECONNREFUSED\): .*DATABASE_URL\.$/m);
  expect(printed).toMatch(/^WRONG {2}Base URL: /m);
  expect(printed).toMatch(/^WRONG {2}Mail server: /m);
  expect(printed).toMatch(/things are wrong\.\n$/);
});

it('a reader that is slow gets the whole answer, one that ends early makes no error, and a full disk does', async () => {
  const database = await createTestDatabase();
  const { sql, close } = openDatabase({ url: database.url, pool: 1, prepare: true });
  await sql`
    insert into users (id, email, created_at)
    select gen_random_uuid(), 'user-' || n || '@company.example', now() from generate_series(1, 1000) as n`;
  await close();
  const env = { ...process.env, GATEHOUSE_ENV_FILE: 'off', DATABASE_URL: database.url };
  const piped = promisify(execFile);
  const command = `"${process.execPath}" "${path.join(build, 'operator.js')}" users --json`;

  const slow = await piped('sh', ['-c', `${command} | { sleep 2; cat; }`], { env, maxBuffer: 10_000_000 });
  expect(JSON.parse(slow.stdout)).toHaveLength(1000);
  const early = await piped('sh', ['-c', `{ ${command}; echo "code $?" >&2; } | true`], { env });
  expect(early.stderr).toMatch(/^Database: .*\ncode 0\n$/);
  const full = await piped('sh', ['-c', `${command} > /dev/full; echo "code $?" >&2`], { env });
  expect(full.stderr).toMatch(/^Database: .*\n.*no space left on device.*\ncode 1\n$/);
  await database.drop();
});
