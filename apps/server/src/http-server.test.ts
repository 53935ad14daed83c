import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import net from 'node:net';
import { parseConfig } from '@gatehouse/api/platform/config';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { afterEach, expect, it } from 'vitest';
import { type Application, openHttpServer } from './http-server.ts';

let server: Awaited<ReturnType<typeof openHttpServer>>;
let port: number;
afterEach(() => server.drain());

/** Opens the server with an application of these pages. */
async function open(bounds: Parameters<typeof openHttpServer>[1], pages: Application['pages']): Promise<void> {
  port = await freePort();
  const config = parseConfig({ DATABASE_URL: 'postgres://localhost/none', HOST: '127.0.0.1', PORT: String(port) });
  server = await openHttpServer(config, bounds);
  const readiness = async () => null;
  server.serve({ rest: () => null, pages, readiness, isRecent: () => false, countRefusal: () => {} });
}

async function connect(): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

it('above the limit the connection that has been idle for longest is closed, not one with an open request', async () => {
  const started = Promise.withResolvers<void>();
  const answers: (() => void)[] = [];
  await open({ connections: 2 }, (_, response) => {
    answers.push(() => response.end());
    started.resolve();
  });
  const busy = await connect();
  busy.write(get);
  await started.promise;
  const halfOpen = (await connect()).resume();
  const halfOpenClosed = once(halfOpen, 'close');
  const next = (await connect()).resume();
  await halfOpenClosed;
  expect([busy.closed, next.closed]).toEqual([false, false]);

  const nextClosed = once(next, 'close');
  const last = await connect();
  await nextClosed;
  const answered = once(busy, 'data');
  for (const answer of answers) answer();
  expect(String(await answered)).toMatch(/^HTTP\/1.1 200/);
  for (const socket of [busy, last]) socket.destroy();
});

it('a connection whose client reads no answer is closed, and one whose client reads slowly is not', async () => {
  const megabytes = Buffer.alloc(24 * 1024 * 1024);
  const closed: string[] = [];
  await open({ silentMilliseconds: 3_000 }, (request, response) => {
    response.once('close', () => closed.push(`${request.url} ${response.writableFinished}`));
    response.end(megabytes);
  });
  const silent = await connect();
  silent.write(get.replace('/', '/silent'));
  const slow = await connect();
  slow.on('data', () => {
    slow.pause();
    setTimeout(() => slow.resume(), 5);
  });
  slow.write(get.replace('/', '/slow'));
  await expect.poll(() => closed.sort(), { timeout: 30_000 }).toEqual(['/silent false', '/slow true']);
  for (const socket of [silent, slow]) socket.destroy();
});

it('a request starts in a context of its own, also when the page of another one waits for its turn', async () => {
  const context = new AsyncLocalStorage<string>();
  const contextOfRead = Promise.withResolvers<string | undefined>();
  await open({}, async (request, response, _, { nextTurn }) => {
    if (request.url === '/read') contextOfRead.resolve(context.getStore());
    else await context.run('page', () => waitBusily(nextTurn));
    response.end();
  });
  const [page, read] = [await connect(), await connect()];

  /** The other request is sent while the turn takes longer than its time, so it is read before the next one. */
  function waitBusily(nextTurn: () => Promise<void>): Promise<void> {
    read.write('GET /read HTTP/1.1\r\nHost: a\r\nCookie: session=invented\r\n\r\n');
    for (const end = performance.now() + 50; performance.now() < end; );
    return nextTurn();
  }
  page.write(get);
  await once(page, 'data');
  expect(await contextOfRead.promise).toBeUndefined();
  for (const socket of [page, read]) socket.destroy();
});
