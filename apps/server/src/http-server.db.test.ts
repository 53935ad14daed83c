import { once } from 'node:events';
import net from 'node:net';
import { parseConfig } from '@gatehouse/api/platform/config';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { afterEach, expect, it } from 'vitest';
import { type Application, openHttpServer } from './http-server.ts';

let server: Awaited<ReturnType<typeof openHttpServer>>;
let port: number;
const failures: unknown[] = [];
afterEach(async () => {
  await server.drain();
  expect(failures.splice(0)).toEqual([]);
});

/** Opens the server with an application of these pages. */
async function open(settings: Parameters<typeof openHttpServer>[1], pages: Application['pages']): Promise<void> {
  port = await freePort();
  const config = parseConfig({ DATABASE_URL: 'postgres://localhost/none', HOST: '127.0.0.1', PORT: String(port) });
  server = await openHttpServer(config, settings);
  const readiness = async () => null;
  const logFailure = (error: unknown) => void failures.push(error);
  server.serve({ api: () => null, pages, readiness, countRefusal: () => {}, logFailure });
}

async function connect(): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

it('above the limit a connection is closed', async () => {
  await open({ maxConnections: 1 }, (_, response) => response.end());
  const first = await connect();
  const second = (await connect()).resume();
  await once(second, 'close');
  first.write(get);
  expect(String(await once(first, 'data'))).toMatch(/^HTTP\/1.1 200/);
  first.destroy();
});

it('a page whose client disconnects before its turn is not started', async () => {
  const started: string[] = [];
  await open({}, (request, response) => {
    const { url = '' } = request;
    started.push(url);
    if (url === '/1') leaving.write(get.replace('/', '/leaving'));
    if (url === '/4') leaving.resetAndDestroy();
    response.end();
  });
  const [socket, leaving] = [await connect(), await connect()];
  const paths = Array.from({ length: 12 }, (_, index) => `/${index + 1}`);
  socket.resume().write(paths.map((path) => get.replace('/', path)).join(''));
  await expect.poll(() => started).toEqual(paths);
  socket.destroy();
});

it('a page that fails closes its connection and is logged, and the next one is answered', async () => {
  await open({}, (request, response) => {
    if (request.url === '/broken') throw new Error('broken');
    response.end();
  });
  const broken = await connect();
  broken.write(get.replace('/', '/broken'));
  await once(broken.resume(), 'close');
  const socket = await connect();
  socket.write(get);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 200/);
  expect(failures.splice(0)).toMatchObject([{ message: 'broken' }]);
  socket.destroy();
});

it('the last answer of a connection says that it is closed', async () => {
  await open({ maxRequestsPerSocket: 2 }, (_, response) => response.end());
  const socket = await connect();
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes;
  });
  socket.write(get.repeat(2));
  await expect
    .poll(() => received.match(/^(HTTP\/1.1 200|Connection: .*)/gm))
    .toEqual(['HTTP/1.1 200', 'Connection: keep-alive', 'HTTP/1.1 200', 'Connection: close']);
  socket.destroy();
});

it.each([
  ['GET', 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['GET', 'Upgrade: h2c\r\n\r\n'],
  ['POST', 'Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n\r\nbody'],
])(
  'the answer to a %s with Upgrade closes the connection, so that nothing waits for a lost request',
  async (method, rest) => {
    await open({}, (request, response) => void request.resume().on('end', () => response.end()));
    const socket = await connect();
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes;
    });
    socket.write(`${method} / HTTP/1.1\r\nHost: a\r\n${rest}${get}`);
    await once(socket, 'close');
    expect(received.match(/^(HTTP\/1.1 \d+|Connection: .*)/gm)).toEqual(['HTTP/1.1 200', 'Connection: close']);
  },
);

it('a connection whose client reads no answer is closed, and one whose client reads slowly is not', async () => {
  const megabytes = Buffer.alloc(24 * 1024 * 1024);
  const closed: string[] = [];
  await open({ timeout: 3_000 }, (request, response) => {
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
