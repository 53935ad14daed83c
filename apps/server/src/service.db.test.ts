import fs from 'node:fs';
import { request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { type Program, runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRequest } from './testing/open-request.ts';

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-service-'));
const programs: Program[] = [];
let port = 0;

beforeAll(async () => {
  port = await freePort();
});

afterAll(async () => {
  for (const { child, ended } of programs) {
    child.kill('SIGTERM');
    await ended;
  }
  fs.rmSync(dataDir, { recursive: true, force: true });
});

function service(env: NodeJS.ProcessEnv = {}): Program {
  const program = runProgram(new URL('testing/serve-stand-in.ts', import.meta.url), [], {
    PORT: String(port),
    DATA_DIR: dataDir,
    LOG_FORMAT: 'json',
    ...env,
  });
  programs.push(program);
  return program;
}

async function serving(env: NodeJS.ProcessEnv = {}): Promise<Program> {
  const program = service(env);
  await program.prints('Serving on');
  return program;
}

async function end({ child, ended }: Program): Promise<{ code: number | null }> {
  child.kill('SIGTERM');
  return ended;
}

function ask(target: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${target}`, init);
}

async function untilListening(): Promise<Response> {
  for (;;) {
    const answer = await ask('/healthz').catch(() => null);
    if (answer) return answer;
  }
}

test('before the service is ready, /healthz answers 200 and every other path 503 with Retry-After', async () => {
  const program = service({ STAND_IN_INIT: 'SIGUSR2' });

  expect((await untilListening()).status).toBe(200);
  const busy = await ask('/readyz');
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '2']);
  expect(await busy.json()).toMatchObject({ code: 'BUSY', error: expect.any(String) });

  program.child.kill('SIGUSR2');
  await program.prints('Serving on');
  expect((await ask('/readyz')).status).toBe(200);
  expect((await end(program)).code).toBe(0);
});

test('before the application is loaded a browser gets a page that reloads itself, and a program JSON', async () => {
  const program = service({ STAND_IN_INIT: 'SIGUSR2', SERVICE_NAME: 'Larch <b> & Sons' });
  await untilListening();
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  const page = await ask('/login', { headers: { accept } });
  const html = await page.text();
  expect([page.status, page.headers.get('retry-after'), page.headers.get('cache-control')]).toEqual([
    503,
    '2',
    'no-store',
  ]);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(html).toContain('<h1');
  expect(html).toContain('Larch &#60;b&#62; &#38; Sons is not ready yet');
  expect(html).toContain('<meta http-equiv="refresh" content="2">');
  expect(html).not.toMatch(/<script|<link|src=/);

  const posted = await ask('/login', { method: 'POST', headers: { accept }, body: 'email=a' });
  expect([posted.status, await posted.text()]).toEqual([503, expect.not.stringContaining('http-equiv')]);
  for (const accepts of ['*/*', 'application/json', 'text/html;q=0']) {
    const busy = await ask('/login', { headers: { accept: accepts } });
    expect([accepts, busy.status, await busy.json()]).toEqual([
      accepts,
      503,
      expect.objectContaining({ code: 'BUSY' }),
    ]);
  }
  const api = await ask('/api/login', { method: 'POST', headers: { accept } });
  expect(await api.json()).toMatchObject({ code: 'BUSY' });
  await end(program);
});

test('the application gets the embedded database and the configured origin', async () => {
  const program = await serving({ PUBLIC_BASE_URL: 'https://auth.company.example', TRUSTED_PROXIES: '1' });
  const answer = await ask('/x', {
    headers: { 'x-gatehouse-host': 'evil.example', 'x-forwarded-for': '1.1.1.1, 203.0.113.9' },
  });
  const seen = (await answer.json()) as Record<string, unknown>;

  expect(seen.databaseUrl).toMatch(/^postgres:\/\/gatehouse@localhost\/gatehouse\?host=/);
  expect(seen.headers).toMatchObject({
    'x-gatehouse-host': 'auth.company.example',
    'x-gatehouse-protocol': 'https',
    'x-gatehouse-address': '203.0.113.9',
  });
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
  await end(program);
});

test('over http there is no Strict-Transport-Security header', async () => {
  const program = await serving();
  expect((await ask('/x')).headers.has('strict-transport-security')).toBe(false);
  await end(program);
});

test('TRACE is answered 405, on /healthz too, and an unknown path 404 in JSON', async () => {
  const program = await serving();

  const status = await new Promise((resolve) => {
    request({ port, method: 'TRACE', path: '/healthz' }, (answer) => resolve(answer.statusCode)).end();
  });
  expect(status).toBe(405);
  expect((await ask('/healthz', { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  const nowhere = await ask('/nowhere');
  expect(nowhere.status).toBe(404);
  expect(await nowhere.json()).toMatchObject({ code: 'NOT_FOUND' });
  await end(program);
});

test('SIGTERM lets open requests finish, answers new ones 503, closes the application and exits 0', async () => {
  const program = await serving();
  const open = await openRequest(port);
  program.child.kill('SIGTERM');
  await program.prints('Shutting down');

  expect((await ask('/readyz')).status).toBe(503);
  expect((await ask('/healthz')).status).toBe(200);
  expect(await open.finish()).toBe(200);
  expect((await program.ended).code).toBe(0);
  expect(program.output()).toContain('the application has closed');
});

test('a shutdown waits for jobs that still run, so that none of them is done twice', async () => {
  const program = await serving({ STAND_IN_CLOSE: '4000' });
  program.child.kill('SIGTERM');
  expect((await program.ended).code).toBe(0);
  expect(program.output()).toContain('the application has closed');
});

test('above its capacity a node answers 503, and still answers probes, webhooks and the API', async () => {
  const program = await serving();
  let refusals = 0;
  const flood = Array.from({ length: 260 }, async () => {
    const { status } = await ask('/held');
    if (status === 503) refusals += 1;
    return status;
  });
  await expect.poll(() => refusals).toBe(60);
  const refused = await ask('/login');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  const preferred: [string, RequestInit][] = [
    ['/healthz', {}],
    ['/readyz', {}],
    ['/webhooks/payment', { method: 'POST', body: '{}' }],
    ['/api/session', {}],
  ];
  for (const [target, init] of preferred) expect([target, (await ask(target, init)).status]).toEqual([target, 200]);

  await ask('/api/release');
  expect((await Promise.all(flood)).filter((status) => status === 200)).toHaveLength(200);
  expect((await ask('/login')).status).toBe(200);
  await end(program);
});

test('SIGTERM ends the service while the application waits for its database', async () => {
  const program = service({ STAND_IN_INIT: 'SIGUSR2' });
  await untilListening();

  expect((await end(program)).code).toBe(0);
});

test('the embedded database is started again after kill -9', async () => {
  const program = await serving();
  const lockFile = path.join(dataDir, 'postgres', 'postmaster.pid');
  process.kill(Number.parseInt(fs.readFileSync(lockFile, 'utf8'), 10), 'SIGKILL');
  await program.prints('The embedded database ended');

  await expect
    .poll(() => fs.readFileSync(path.join(dataDir, 'postgres.log'), 'utf8').split('ready to accept').length)
    .toBeGreaterThan(2);
  await end(program);
});

const startFailures: [name: string, env: NodeJS.ProcessEnv, sentence: RegExp][] = [
  ['a wrong value', { IDP_TOKEN_URL: 'nowhere' }, /^IDP_TOKEN_URL must .*\n$/],
  [
    'an application that fails to start',
    { STAND_IN_FAILS: 'The plans cannot be read.' },
    /The plans cannot be read\.\n$/,
  ],
  ['an address of another machine', { HOST: '192.0.2.1' }, /^HOST is 192\.0\.2\.1.*\n$/],
];

test.each(startFailures)('%s stops the start, and prints its sentence alone', async (_name, env, sentence) => {
  const program = service(env);

  expect((await program.ended).code).toBe(1);
  expect(program.output()).toMatch(sentence);
  expect(program.output()).not.toMatch(/^\s+at /m);
});

test('a port in use stops the start, and the sentence suggests another port', async () => {
  const first = await serving();
  const second = service();

  expect((await second.ended).code).toBe(1);
  expect(second.output()).toMatch(new RegExp(`^Port ${port} is in use: .*PORT=\\d+`));
  await end(first);
});
