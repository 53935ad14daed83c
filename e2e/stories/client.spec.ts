import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { APIRequestContext } from '@playwright/test';
import { makeOwner, passPhrase } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

const exec = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

const client = path.join(root, 'packages/client');

/** The folder of another service: it has the packed client, and no other file of this repository. */
let elsewhere: string;
let archive: string;

test.beforeAll(async () => {
  elsewhere = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-elsewhere-'));
  const packed = await exec('npm', ['pack', './packages/client', '--json', '--pack-destination', elsewhere], {
    cwd: root,
  });
  const [{ filename, files }] = JSON.parse(packed.stdout);
  archive = path.join(elsewhere, filename);
  expect(files.map((file: { path: string }) => file.path).sort()).toEqual(
    [
      'README.md',
      'package.json',
      ...files
        .map((file: { path: string }) => file.path)
        .filter((path: string) => /^dist\/[\w.-]+\.(js|d\.ts)$/.test(path)),
    ].sort(),
  );

  write('package.json', JSON.stringify({ name: 'elsewhere', private: true, type: 'module' }));
  await exec('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: elsewhere });
});

test.afterAll(() => fs.rmSync(elsewhere, { recursive: true, force: true }));

test('publint and attw accept the package, which imports neither Node nor another package', async () => {
  const check = (tool: string, ...args: string[]) =>
    exec(path.join(client, 'node_modules/.bin', tool), args, { cwd: client });
  await check('publint', '--strict', '.');
  await check('attw', archive, '--profile', 'esm-only');
  for (const file of fs.globSync('dist/*.{js,d.ts}', { cwd: client })) {
    const text = fs.readFileSync(path.join(client, file), 'utf8');
    const imported = [...text.matchAll(/^(?:import|export) .*from "([^"]+)"/gm)].map(([, from]) => from);
    expect(imported.filter((from) => !from?.startsWith('./'))).toEqual([]);
  }
});

test('another service reads the user and the plan with the packed client', async ({ request, service }) => {
  expect(await ask(service.baseUrl, 'session', 'session=nobody')).toEqual({ answer: null });
  expect(await ask(service.baseUrl, 'subscription', 'session=nobody')).toEqual({
    refused: { name: 'GatehouseError', status: 401, code: 'UNAUTHENTICATED' },
  });

  const email = await makeOwner(service, request);
  const cookie = await signedInCookie(request, email);
  expect(await ask(service.baseUrl, 'session', cookie)).toMatchObject({
    answer: { user: { email }, organisation: { tier: 'free' }, role: 'owner' },
  });
  expect(await ask(service.baseUrl, 'subscription', cookie)).toMatchObject({
    answer: { plan: { tier: 'free', status: 'none' } },
  });
});

test('the packed client reports the error code of an account that awaits approval', async ({ request, service }) => {
  const cookie = await signedInCookie(request, await makeOwner(service, request, { approved: false }));
  expect(await ask(service.baseUrl, 'session', cookie)).toEqual({
    refused: { name: 'GatehouseError', status: 403, code: 'AWAITING_APPROVAL' },
  });
});

test('a request for changes stops counting as soon as its caller aborts it', async ({ service }) => {
  const key = (await service.operator('api-key', 'create', '--name', 'Feed')).stdout.trim();
  const controller = new AbortController();
  const poll = (wait: number, signal?: AbortSignal) =>
    fetch(`${service.baseUrl}/api/changes?wait=${wait}`, {
      headers: { authorization: `Bearer ${key}` },
      ...(signal && { signal }),
    });
  // More than may wait: 60 and the one that asks compete for 50 places.
  const polls = Array.from({ length: 60 }, async () => {
    // A change of an earlier test answers all that wait: they ask again.
    while (!controller.signal.aborted) {
      const answer = await poll(60, controller.signal).catch(() => null);
      if (answer?.status === 429) await new Promise((resolve) => setTimeout(resolve, 500));
    }
  });
  await expect.poll(async () => (await poll(1)).status).toBe(429);

  controller.abort();
  await Promise.all(polls);
  await expect.poll(async () => (await poll(1)).status).toBe(200);
});

for (const [module, moduleResolution] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const) {
  test(`the packed types compile without this repository, resolved as ${moduleResolution} does`, async () => {
    write(
      'right.ts',
      `import { createGatehouse, GatehouseError, type Session, type Subscription } from '@gatehouse/client';
       const gatehouse = createGatehouse({ url: 'https://id.example.com' });
       export const session: Session | null = await gatehouse.sessions.verify('');
       export const isGold: boolean = session?.organisation?.tier === 'gold';
       export const limit: Subscription['usage'][number]['limit'] | undefined = (await gatehouse.subscription('')).usage[0]?.limit;
       export const status: number = new GatehouseError(403, null, '').status;
       // @ts-expect-error There is no such role.
       export const isGuest: boolean = session?.role === 'guest';
       // @ts-expect-error The session may be null.
       export const id: string = session.user.id;`,
    );
    // TypeScript's own library is not what is checked here, and takes longer than the rest.
    const library = { target: 'es2022', lib: ['es2022', 'dom'], types: [], skipDefaultLibCheck: true };
    const options = { module, moduleResolution, ...library, strict: true };
    write('tsconfig.json', JSON.stringify({ compilerOptions: { ...options, noEmit: true }, files: ['right.ts'] }));
    const compiled = await exec(process.execPath, [tsc, '-p', '.'], { cwd: elsewhere }).catch((error) => error);
    expect(compiled.stdout).toBe('');
  });
}

/** Runs the client in a separate Node process, as another service would. */
async function ask(baseUrl: string, what: 'session' | 'subscription', cookie: string): Promise<unknown> {
  write(
    'ask.js',
    `import { createGatehouse, GatehouseError } from '@gatehouse/client';
     const [baseUrl, what, cookie] = process.argv.slice(2);
     try {
       const gatehouse = createGatehouse({ url: baseUrl });
       const answer = what === 'session' ? gatehouse.sessions.verify(cookie) : gatehouse.subscription(cookie);
       console.log(JSON.stringify({ answer: await answer }));
     } catch (error) {
       if (!(error instanceof GatehouseError)) throw error;
       const { name, status, code } = error;
       console.log(JSON.stringify({ refused: { name, status, code } }));
     }`,
  );
  const { stdout } = await exec(process.execPath, ['ask.js', baseUrl, what, cookie], { cwd: elsewhere });
  return JSON.parse(stdout);
}

async function signedInCookie(request: APIRequestContext, email: string): Promise<string> {
  const signedIn = await request.post('/api/login', { data: { email, password: passPhrase } });
  return signedIn.headers()['set-cookie']?.split(';')[0] ?? '';
}

function write(name: string, text: string): void {
  fs.writeFileSync(path.join(elsewhere, name), text);
}
