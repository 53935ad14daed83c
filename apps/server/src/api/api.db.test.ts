import { once } from 'node:events';
import { createServer } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { startSession } from '@gatehouse/api/auth/sessions/session';
import { isApiPath } from '@gatehouse/api/http/answer-endpoint';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { makeOwner, newEmail, testClient, testPassword } from '@gatehouse/api/testing/factories';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from './api.ts';
import { serveEndpoints } from './testing/serve-endpoints.ts';

let test: TestApp;
let served: Awaited<ReturnType<typeof serveEndpoints>>;
let owner: Awaited<ReturnType<typeof makeOwner>>;
let cookie: string;
beforeAll(async () => {
  test = await startTestApp();
  served = await serveEndpoints(test.app);
  owner = await makeOwner(test);
  const { userId, organisationId } = owner;
  cookie = `session=${await startSession(test.app, { userId, organisationId, client: testClient })}`;
});
afterAll(async () => {
  await served.close();
  await test.close();
});

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(served.url + path, init);
}

/** Sends bytes as they are, and returns what comes until the server or the client ends the connection. */
async function sendRaw(...parts: string[]): Promise<string> {
  const socket = net.connect(Number(new URL(served.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes;
  });
  for (const part of parts) socket.write(part);
  for (let waited = 0; !received.includes('\r\n\r\n') && waited < 1500; waited++) await pause(20);
  socket.destroy();
  return received;
}

it('answers with the security headers, the length of the body and a request id of its own', async () => {
  const [one, other] = [await ask('/api/session', { headers: { cookie } }), await ask('/api/session')];
  expect([one.status, other.status]).toEqual([200, 401]);
  expect(Object.fromEntries(one.headers)).toMatchObject({
    'content-type': 'application/json',
    'content-length': String((await one.text()).length),
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'x-gatehouse-user': owner.userId,
    'x-gatehouse-scopes': 'READ WRITE ADMIN',
  });
  expect(one.headers.get('x-request-id')).not.toBe(other.headers.get('x-request-id'));
});

it.each([
  [{ 'accept-language': 'de-AT,en;q=0.5' }, /^Ihr Link für/],
  [{ 'accept-language': 'de', cookie: 'language=en' }, /^Your link for/],
  [{}, /^Your link for/],
])('answers in English, and mails in the language of the browser: %j', async (headers, subject) => {
  const email = newEmail();
  const body = JSON.stringify({ email, password: testPassword, org_name: 'Company' });
  const post = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  expect(await (await ask('/api/signup', { ...post, body: '{}' })).text()).toContain('Enter');
  expect((await ask('/api/signup', { ...post, body })).status).toBe(200);
  expect((await test.sandbox.mailbox.waitFor(email)).subject).toMatch(subject);
});

it('sets the cookie of a browser that signed up again, for an address that is known and one that is not', async () => {
  const post = async (email: string, cookie?: string) => {
    const body = JSON.stringify({ email, password: testPassword });
    const headers = { 'content-type': 'application/json', ...(cookie && { cookie }) };
    const [line = ''] = (await ask('/api/signup', { method: 'POST', headers, body })).headers.getSetCookie();
    return line;
  };
  const first = await post(newEmail());
  const [cookie] = first.split(';');
  expect(cookie).toMatch(/^signup=[\w-]{22}\.\d+\.[\w-]{43}$/);
  for (const email of [newEmail(), owner.email]) expect(await post(email, cookie)).toBe(first);
  expect(await post(newEmail(), `signup=${'A'.repeat(43)}`)).not.toContain('AAAA');
});

it('answers HEAD with the headers of GET alone', async () => {
  const [head, get] = [
    await ask('/api/session', { method: 'HEAD', headers: { cookie } }),
    await ask('/api/session', { headers: { cookie } }),
  ];
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
});

it('names the methods of a path with 405, and answers 404 for a path without an endpoint', async () => {
  const wrong = await ask('/api/usage/api_calls', { method: 'DELETE' });
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT']);
  for (const path of ['/api/none', '/api/organisations/%ff/members', '/webhooks/none', '/api/%73ession']) {
    const answer = await ask(path);
    expect([path, answer.status, await answer.json()]).toEqual([
      path,
      404,
      { error: 'There is no such path.', code: 'NOT_FOUND' },
    ]);
  }
});

it('sets the cookies of a sign-in, and clears the session’s at sign-out', async () => {
  const body = JSON.stringify({ email: owner.email, password: testPassword });
  const headers = { 'content-type': 'application/json' };
  const signedIn = await ask('/api/login', { method: 'POST', headers, body });
  const lines = signedIn.headers.getSetCookie();
  expect(lines.map((line) => line.replace(/=[^;]+/, ''))).toEqual([
    'session; Max-Age=7776000; Path=/; HttpOnly; SameSite=Lax',
    'known; Max-Age=34560000; Path=/; HttpOnly; SameSite=Lax',
  ]);
  const own = lines.map((line) => line.split(';')[0]).join('; ');
  expect((await ask('/api/session', { headers: { cookie: own } })).status).toBe(200);

  const signedOut = await ask('/api/logout', { method: 'POST', headers: { cookie: own } });
  expect(signedOut.headers.getSetCookie()).toEqual(['session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax']);
  expect((await ask('/api/session', { headers: { cookie: own } })).status).toBe(401);
});

it('answers 413 while the rest of too large a body without a length is still to come', async () => {
  const chunk = `${(70_000).toString(16)}\r\n${'x'.repeat(70_000)}\r\n`;
  const head =
    'POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  expect(await sendRaw(head, chunk, '0\r\n\r\n')).toMatch(/^HTTP\/1.1 413 /);
  expect(await sendRaw(head, ...Array.from({ length: 20 }, () => chunk))).toMatch(/^HTTP\/1.1 413 /);
});

it('answers another site’s body without a length by its size first, and reads no more than a megabyte of it', async () => {
  const chunk = `${(70_000).toString(16)}\r\n${'x'.repeat(70_000)}\r\n`;
  const head =
    'POST /api/login HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\nTransfer-Encoding: chunked\r\n\r\n';
  expect(await sendRaw(head, chunk, '0\r\n\r\n')).toMatch(/^HTTP\/1.1 413 /);
  expect(await sendRaw(head, ...Array.from({ length: 20 }, () => chunk))).toMatch(/^HTTP\/1.1 413 /);
  expect(await sendRaw(head, '2\r\n{}\r\n0\r\n\r\n')).toMatch(/^HTTP\/1.1 403 /);
});

it('serves others while clients disconnect before the end of their bodies', async () => {
  const head = 'POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{';
  const port = Number(new URL(served.url).port);
  for (let client = 0; client < 20; client++) {
    const socket = net.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(head);
    await pause(5);
    socket.destroy();
  }
  expect((await ask('/api/session', { headers: { cookie } })).status).toBe(200);
});

describe('the paths of the API', () => {
  it.each([
    ['/api/session', true],
    ['/api/none', true],
    ['/webhooks/payment', true],
    ['/.well-known/jwks.json', true],
    ['/api/trpc/sessions.verify', true],
    ['/metrics', true],
    ['/metrics/', false],
    ['/api/docs', false],
    ['/api/docs/', false],
    ['/api/docs/__data.json', false],
    ['/api', false],
    ['/login', false],
    ['/webhooksx', false],
  ])('%s: %s', (path, isOne) => {
    expect(isApiPath(path)).toBe(isOne);
  });
});

it('the work of a request whose client has disconnected ends with its statement, not before', async () => {
  const handle = createApi(test.app);
  const begun = Promise.withResolvers<{ work: Promise<void> | null }>();
  const closed = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    response.once('close', () => closed.resolve());
    begun.resolve({ work: handle(request, response, { target: '/api/session', client: { address: '127.0.0.1' } }) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  let hasEnded = false;
  let work: Promise<void> | null = null;
  await test.app.sql.begin(async (tx) => {
    await tx`lock table sessions in access exclusive mode`;
    const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
    socket.write(`GET /api/session HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}\r\n\r\n`);
    ({ work } = await begun.promise);
    expect(work).not.toBeNull();
    work?.then(() => {
      hasEnded = true;
    });
    socket.destroy();
    await closed.promise;
    await pause(200);
    expect(hasEnded).toBe(false);
  });
  await work;
  expect(hasEnded).toBe(true);
  server.close();
});
