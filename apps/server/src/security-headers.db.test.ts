import { once } from 'node:events';
import { type IncomingHttpHeaders, request as send } from 'node:http';
import net from 'node:net';
import { parseConfig } from '@gatehouse/api/platform/config';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { afterEach, expect, it } from 'vitest';
import { type Application, openHttpServer } from './http-server.ts';

let server: Awaited<ReturnType<typeof openHttpServer>>;
let port: number;
afterEach(() => server.drain());

/** Opens the server of a service with this base URL, before it has an application. */
async function open(base: string, bounds: Parameters<typeof openHttpServer>[1] = {}): Promise<void> {
  port = await freePort();
  const values = { DATABASE_URL: 'postgres://localhost/none', HOST: '127.0.0.1', PUBLIC_BASE_URL: base };
  server = await openHttpServer(parseConfig({ ...values, PORT: String(port) }), bounds);
}

/**
 * Serves static files as Kit does, which sets no header of its own for them, reads a body at /read, and begins an answer
 * at /begin. Every other path is none of its.
 */
const pages: Application['pages'] = (request, response, next) => {
  if (request.url?.startsWith('/_app/')) response.end('file');
  else if (request.url === '/read') request.resume();
  else if (request.url === '/begin') request.resume() && response.write('begun');
  else next();
};

function serve(): void {
  const application = { api: () => null, readiness: async () => null };
  server.serve({ ...application, pages, countRefusal: () => {}, logFailure: console.error });
}

async function ask(method: string, path: string): Promise<[status: number | undefined, IncomingHttpHeaders]> {
  const sent = send({ port, host: '127.0.0.1', method, path, headers: { accept: 'text/html' }, agent: false }).end();
  const [answer] = await once(sent, 'response');
  answer.resume();
  return [answer.statusCode, answer.headers];
}

const expected = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'content-security-policy': expect.stringMatching(/^default-src 'none';.* frame-ancestors 'none'$/),
};
const transport = 'max-age=31536000; includeSubDomains';

it.each([
  ['GET', '/healthz', 200],
  ['POST', '/healthz', 405],
  ['GET', '/readyz', 200],
  ['DELETE', '/readyz', 405],
  ['TRACE', '/login', 405],
  ['GET', '*', 400],
  ['GET', '/_app/immutable/start.js', 200],
  ['GET', '/none', 404],
])('%s %s, answered %i, has every security header', async (method, path, status) => {
  await open('https://auth.company.example');
  serve();
  const [answered, headers] = await ask(method, path);
  expect(answered).toBe(status);
  expect(headers).toMatchObject({ ...expected, 'strict-transport-security': transport });
});

/** Sends bytes as they are. Returns the status of the answer, its headers, and its body as JSON. */
async function sendRaw(...parts: string[]): Promise<[number, IncomingHttpHeaders, unknown]> {
  const socket = net.connect(port, '127.0.0.1').setEncoding('latin1');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  const closed = once(socket, 'close');
  for (const part of parts) socket.write(part);
  await closed;
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => [line.split(': ', 1)[0]?.toLowerCase(), line.replace(/^[^:]*: /, '')]);
  return [Number(first.split(' ')[1]), Object.fromEntries(headers), JSON.parse(/\{.*\}/.exec(body)?.[0] ?? 'null')];
}

const chunked = 'POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

it.each([
  ['what is not HTTP', ['\x16\x03\x01 hello\r\n\r\n'], 400, 'VALIDATION'],
  ['a request of HTTP/1.1 without Host', ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n'], 400, 'VALIDATION'],
  ['two Host headers', ['GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'], 400, 'VALIDATION'],
  ['two equal ones in HTTP/1.0', ['GET / HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n'], 400, 'VALIDATION'],
  ...['', 'a b', 'a/b', 'a@b', 'a,b:1', '[::1', '::1', 'a:99999', 'a:b'].map(
    (host): [string, string[], number, string] => [
      `the host “${host}”`,
      [`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`],
      400,
      'VALIDATION',
    ],
  ),
  ['a method that HTTP does not define', ['FOO /login HTTP/1.1\r\nHost: a\r\n\r\n'], 405, 'METHOD_NOT_ALLOWED'],
  ['CONNECT', ['CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'], 405, 'METHOD_NOT_ALLOWED'],
  ['headers of 20 kB', [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`], 431, 'TOO_LARGE'],
  ['a malformed chunk', [chunked, 'zz\r\n'], 400, 'VALIDATION'],
  ['extensions of chunks of 20 kB', [chunked, `1;${'x'.repeat(20_000)}\r\n`], 413, 'TOO_LARGE'],
  [
    'an unknown expectation',
    ['GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: x\r\n\r\n'],
    404,
    'NOT_FOUND',
  ],
])('the answer to %s has every security header and a code', async (_, parts, status, code) => {
  await open('https://auth.company.example');
  serve();
  const [answered, headers, body] = await sendRaw(...parts);
  expect([answered, body]).toEqual([status, { error: expect.stringMatching(/\.$/), code }]);
  expect(headers).toMatchObject({ ...expected, 'strict-transport-security': transport, 'cache-control': 'no-store' });
  expect(headers.allow).toBe(status === 405 ? 'GET, HEAD, POST, PUT, PATCH, DELETE' : undefined);
});

it.each(['a', 'a_b.example:3000', '127.0.0.1', '[::1]:3000', 'xn--mnchen-3ya.example', 'a.'])(
  'a request is answered that names the host %s',
  async (host) => {
    await open('https://auth.company.example');
    serve();
    const [answered] = await sendRaw(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answered).toBe(200);
  },
);

it.each([
  ['/_app/immutable/start.js', 'text/javascript; charset=utf-8'],
  ['/_app/immutable/start.css', 'text/css; charset=utf-8'],
  ['/_app/immutable/mark.svg', 'image/svg+xml; charset=utf-8'],
  ['/robots.txt', 'application/json'],
])('the type of %s is %s', async (path, type) => {
  await open('https://auth.company.example');
  serve();
  const [, headers] = await ask('GET', path);
  expect(headers['content-type']).toBe(type);
});

it('a request whose headers do not come gets 408 with every security header', async () => {
  await open('https://auth.company.example', { headersTimeout: 100 });
  serve();
  const [answered, headers, body] = await sendRaw('GET / HTTP/1.1\r\nHost: a\r\n');
  expect([answered, body]).toMatchObject([408, { code: 'VALIDATION' }]);
  expect(headers).toMatchObject(expected);
});

it('nothing is sent after the beginning of an answer whose request turns out to be malformed', async () => {
  await open('https://auth.company.example');
  serve();
  const socket = net.connect(port, '127.0.0.1').setEncoding('latin1');
  const received: string[] = [];
  socket.on('data', (text: string) => received.push(text));
  socket.write(chunked.replace('/read', '/begin'));
  await once(socket, 'data');
  socket.write('zz\r\n');
  await once(socket, 'close');
  expect(received.join('').match(/HTTP\/1\.1/g)).toHaveLength(1);
});

it('a refusal before the application is loaded has every security header, and none of HTTPS without it', async () => {
  await open('http://localhost:3999');
  for (const path of ['/login', '/api/session', '/readyz']) {
    const [status, headers] = await ask('GET', path);
    expect([path, status]).toEqual([path, 503]);
    expect(headers).toMatchObject(expected);
    expect(headers).not.toHaveProperty('strict-transport-security');
  }
});
