import fs from 'node:fs';
import net, { type AddressInfo, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterAll, expect, it } from 'vitest';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-operator-'));
const file = path.join(folder, 'file');
fs.writeFileSync(file, '');
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

// Nothing listens on port 1.
const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/gatehouse' };
const unknown = { DATABASE_URL: (process.env.TEST_DATABASE_URL ?? '').replace(/\/gatehouse(?=\?|$)/, '/unknown') };

async function operator(args: string[], env: NodeJS.ProcessEnv) {
  const { ended, output } = runProgram(new URL('operator.ts', import.meta.url), args, { DATA_DIR: folder, ...env });
  return { code: (await ended).code, said: output() };
}

const failures: [name: string, args: string[], env: NodeJS.ProcessEnv, code: number, said: RegExp][] = [
  ['no command', ['aprove'], away, 2, /^There is no command aprove\.\nnpm run operator/],
  [
    'a wrong option',
    ['decline', 'a@b.example', '--raison', 'x'],
    away,
    2,
    /^There is no option --raison here\.\n.*\n$/,
  ],
  ['a wrong value', ['list'], { PORT: 'eighty' }, 1, /^PORT must be .*\n$/],
  ['a database that is away', ['list'], away, 1, /^The database does not answer \(ECONNREFUSED\): .*DATABASE_URL\.\n$/],
  ['a database that is not there', ['list'], unknown, 1, /^The database refuses: .*DATABASE_URL\.\n$/],
  ['a data directory that is a file', ['list'], { DATA_DIR: file }, 1, /^DATA_DIR \(.*\) cannot be used .*\n$/],
  ['a list of plans that is not there', ['list'], { ...away, PLANS_FILE: '/nowhere' }, 1, /^PLANS_FILE .*\n$/],
];

it.each(failures)(
  '%s: the command prints a sentence and exits with a code other than 0',
  async (_name, args, env, code, said) => {
    expect(await operator(args, env)).toEqual({ code, said: expect.stringMatching(said) });
  },
);

it('the wait for a database that never responds has a timeout', async () => {
  const held: Socket[] = [];
  const server = net.createServer((socket) => held.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const { code, said } = await operator(['list'], { DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/gatehouse` });
  for (const socket of held) socket.destroy();
  server.close();
  expect([code, said]).toEqual([1, expect.stringMatching(/^The database does not answer .*DATABASE_URL\.\n$/)]);
}, 60_000);

it('the doctor reports an unavailable database along with its other findings', async () => {
  const { code, said } = await operator(['doctor'], away);

  expect(code).toBe(1);
  expect(said).toMatch(/^WRONG {2}Database: It does not answer \(ECONNREFUSED\)\. .*DATABASE_URL\.$/m);
  expect(said).toMatch(/^WRONG {2}Base URL: /m);
  expect(said).toMatch(/^WRONG {2}Mail server: /m);
  expect(said).toMatch(/things are wrong\.\n$/);
});
