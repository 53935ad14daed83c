import { once } from 'node:events';
import { type IncomingHttpHeaders, request as send } from 'node:http';
import { parseConfig } from '@gatehouse/api/config';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { afterEach, expect, it } from 'vitest';
import { type Application, openHttpServer } from './http-server.ts';

let server: Awaited<ReturnType<typeof openHttpServer>>;
let port: number;
afterEach(() => server.drain());

/** Opens the server of a service with this base URL, before it has an application. */
async function open(base: string): Promise<void> {
  port = await freePort();
  const values = { DATABASE_URL: 'postgres://localhost/none', HOST: '127.0.0.1', PUBLIC_BASE_URL: base };
  server = await openHttpServer(parseConfig({ ...values, PORT: String(port) }));
}

/** Serves static files as Kit does, which sets no header of its own for them; every other path is none of its. */
const pages: Application['pages'] = (request, response, next) =>
  request.url?.startsWith('/_app/') ? response.end('file') : next();

function serve(): void {
  const application = { rest: () => null, readiness: async () => null, isRecent: () => false };
  server.serve({ ...application, pages, countRefusal: () => {} });
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

it('a refusal before the application is loaded has every security header, and none of HTTPS without it', async () => {
  await open('http://localhost:3999');
  for (const path of ['/login', '/api/session', '/readyz']) {
    const [status, headers] = await ask('GET', path);
    expect([path, status]).toEqual([path, 503]);
    expect(headers).toMatchObject(expected);
    expect(headers).not.toHaveProperty('strict-transport-security');
  }
});
