import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { type Program, runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRequest } from './testing/open-request.ts';

const standIn = new URL('testing/serve-stand-in.ts', import.meta.url);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-shutdown-'));
let port = 0;

beforeAll(async () => {
  port = await freePort();
  // The form of the script in the root's package.json: the shell becomes the service.
  const serve = `exec "${process.execPath}" "${fileURLToPath(standIn)}"`;
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ scripts: { serve } }));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** The stand-in does not connect to the database. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, PORT: String(port), LOG_FORMAT: 'json', DATABASE_URL: 'postgres://localhost/none' };
}

function ask(target: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${target}`, init);
}

async function isUp(): Promise<boolean> {
  return ask('/healthz').then(
    () => true,
    () => false,
  );
}

async function serving(): Promise<Program> {
  const program = runProgram(standIn, [], environment());
  await program.prints('Serving on');
  return program;
}

it.each(['SIGTERM', 'SIGKILL'] as const)('%s to npm run serve also ends the service', async (signal) => {
  const npm = spawn('npm', ['run', 'serve', '--silent'], { cwd: folder, env: environment(), stdio: 'ignore' });
  const ended = once(npm, 'exit');
  await expect.poll(isUp).toBe(true);
  npm.kill(signal);
  await ended;
  await expect.poll(isUp).toBe(false);
});

it('a program that another one started outlives it without npm, as under a service manager', async () => {
  const start = `const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, [process.argv[1]], { stdio: 'ignore' });
    console.log(child.pid);`;
  const parent = spawn(process.execPath, ['-e', start, fileURLToPath(standIn)], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await once(parent.stdout, 'data');
  const pid = Number.parseInt(String(printed), 10);
  await expect.poll(isUp).toBe(true);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await pause(1_200);
  expect(await isUp()).toBe(true);

  process.kill(pid, 'SIGTERM');
  await expect.poll(isUp).toBe(false);
});

it('a second SIGTERM does not cut the requests that the first one lets finish', async () => {
  const program = await serving();
  const open = await openRequest(port);
  program.child.kill('SIGTERM');
  await program.prints('Shutting down');
  program.child.kill('SIGTERM');
  program.child.kill('SIGINT');
  expect(await open.finish()).toBe(200);
  expect(await program.ended).toEqual({ code: 0, signal: null });
  expect(program.output()).toContain('the application has closed');
  expect(program.output().split('Shutting down')).toHaveLength(2);
});

it('SIGTERM at any moment of the start ends the process, and nothing keeps its port or its database', async () => {
  const dataDir = path.join(folder, 'data');
  const { DATABASE_URL: _, ...embedded } = environment();
  for (const milliseconds of [50, 200, 400, 600, 900, 1_300]) {
    const program = runProgram(standIn, [], { ...embedded, DATA_DIR: dataDir });
    await pause(milliseconds);
    program.child.kill('SIGTERM');
    const { code, signal } = await program.ended;
    expect([0, 'SIGTERM'], program.output()).toContain(signal ?? code);
    expect(await isUp()).toBe(false);
    const isRunning = () => fs.existsSync(path.join(dataDir, 'postgres', 'postmaster.pid'));
    await expect.poll(isRunning).toBe(false);
  }
});

it('HEAD is answered as GET without a body, by /healthz, before the service is ready and after', async () => {
  const program = runProgram(standIn, [], { ...environment(), STAND_IN_INIT: 'SIGUSR2' });
  await expect.poll(isUp).toBe(true);
  const seen = async (target: string) => {
    const answer = await ask(target, { method: 'HEAD' });
    return [answer.status, await answer.text()];
  };
  expect(await seen('/healthz')).toEqual([200, '']);
  expect(await seen('/readyz')).toEqual([503, '']);
  expect(await seen('/login')).toEqual([503, '']);
  program.child.kill('SIGUSR2');
  await program.prints('Serving on');
  expect(await seen('/healthz')).toEqual([200, '']);
  expect(await seen('/nowhere')).toEqual([404, '']);
  program.child.kill('SIGTERM');
  expect((await program.ended).code).toBe(0);
});
