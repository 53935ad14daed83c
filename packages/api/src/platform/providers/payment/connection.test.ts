import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Ask, createPayment, timeLimits } from './connection.ts';
import { listAll } from './list-all.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const short = { request: 800, retries: 1, total: 30_000 };
const silence = { code: 'PROVIDER_UNAVAILABLE', message: expect.stringContaining('does not answer') };

/** Starts a provider with this behaviour, and counts its requests and its open connections. */
async function provider(behave: RequestListener, host = '127.0.0.1') {
  const open = new Set<Socket>();
  const seen = { requests: 0, open: () => open.size, port: 0 };
  const server = createServer((request, response) => {
    seen.requests++;
    behave(request, response);
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  seen.port = (server.address() as AddressInfo).port;
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return seen;
}

/** Returns a port that accepts no connection, as behind a firewall that drops packets: the queue of its listener is full. */
async function blackhole(): Promise<number> {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       setImmediate(() => Atomics.wait(workerData, 0, 0));
     });`,
    { eval: true, workerData: shared },
  );
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const queued: Socket[] = [];
  closing.push(async () => {
    for (const socket of queued) socket.destroy();
    Atomics.store(shared, 0, 1);
    Atomics.notify(shared, 0);
    await worker.terminate();
  });

  for (let connects = true; connects; ) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    queued.push(socket);
    connects = await Promise.race([
      new Promise<boolean>((resolve) => socket.once('connect', () => resolve(true))),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 500)),
    ]);
  }
  return port;
}

function payment(port: number, bounds?: typeof timeLimits) {
  return createPayment({ secretKey: 'sk_test_sandbox', apiUrl: `http://127.0.0.1:${port}` }, undefined, bounds);
}

const create = (ask: Ask) => ask((api) => api.customers.create());

const never: RequestListener = () => {};
const trickle: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
};

describe('a call ends within its time limit, and its request with it', () => {
  test.each([
    ['never answers', never],
    ['sends its body byte by byte', trickle],
  ])('where the provider %s: after one retry', async (_, behave) => {
    const seen = await provider(behave);
    await expect(create(payment(seen.port, { ...timeLimits, action: short }).ask)).rejects.toMatchObject(silence);
    expect(seen.requests).toBe(2);
    await vi.waitFor(() => expect(seen.open()).toBe(0), 30_000);
  });

  test('where no connection is established', async () => {
    const { ask } = payment(await blackhole(), { ...timeLimits, action: short });
    await expect(create(ask)).rejects.toMatchObject(silence);
  });

  test('where each of its requests alone would be in time', async () => {
    const seen = await provider(trickle);
    const action = { request: 60_000, retries: 1, total: 400 };
    await expect(create(payment(seen.port, { ...timeLimits, action }).ask)).rejects.toMatchObject(silence);
    expect(seen.requests).toBe(1);
    await vi.waitFor(() => expect(seen.open()).toBe(0), 30_000);
  });

  test('and a brief call is not retried', async () => {
    const seen = await provider(trickle);
    await expect(create(payment(seen.port).askBriefly)).rejects.toMatchObject(silence);
    expect(seen.requests).toBe(1);
    await vi.waitFor(() => expect(seen.open()).toBe(0), 30_000);
  });

  test('and a request whose connection was closed is sent once more, also by a brief call', async () => {
    const seen = await provider(({ socket }) => socket.destroy());
    await expect(create(payment(seen.port).askBriefly)).rejects.toMatchObject(silence);
    expect(seen.requests).toBe(2);
  });

  test('and a concurrent call is not affected', async () => {
    const seen = await provider((request, response) => {
      if (request.method === 'GET') setTimeout(() => response.end('{"id":"cus_1"}'), 1000);
    });
    const action = { request: 60_000, retries: 0, total: 60_000 };
    const { ask, askBriefly } = payment(seen.port, { action, askBriefly: { ...short, retries: 0 } });
    const answer = ask((api) => api.customers.retrieve('cus_1'));
    await expect(create(askBriefly)).rejects.toMatchObject(silence);
    expect(await answer).toMatchObject({ id: 'cus_1' });
  });
});

test('a call has 8 s and one retry, a brief call 1.5 s and none', () => {
  expect(timeLimits).toEqual({
    action: { request: 8000, retries: 1, total: 17_000 },
    askBriefly: { request: 1500, retries: 0, total: 1600 },
  });
});

test('a list is complete, however many pages it has', async () => {
  const seen = await provider((request, response) => {
    const after = new URL(request.url ?? '', 'http://provider').searchParams.get('starting_after');
    const page = Number(after?.slice('cus_'.length) ?? 0) + 1;
    response.end(JSON.stringify({ object: 'list', data: [{ id: `cus_${page}` }], has_more: page < 25 }));
  });
  const found = await listAll(payment(seen.port).ask, (api, paging) => api.customers.list(paging));
  expect(found).toHaveLength(25);
});

test.each([
  ['ends before its last page', () => []],
  ['repeats a page', () => [{ id: 'cus_1' }]],
  ['leads back to an earlier page', (requests: number) => [{ id: `cus_${requests % 3}` }]],
])('a list that %s is an error', async (_, itemsOf) => {
  const seen = await provider((_, response) => {
    const has_more = seen.requests < 20;
    response.end(JSON.stringify({ object: 'list', data: itemsOf(seen.requests), has_more }));
  });
  const found = listAll(payment(seen.port).ask, (api, paging) => api.customers.list(paging));
  await expect(found).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
});

test('each page of a list is a request of its own', async () => {
  const seen = await provider((request, response) => {
    const after = new URL(request.url ?? '', 'http://provider').searchParams.get('starting_after');
    const page = Number(after?.slice('cus_'.length) ?? 0) + 1;
    response.end(JSON.stringify({ object: 'list', data: [{ id: `cus_${page}` }], has_more: page < 3 }));
  });
  const { ask } = payment(seen.port);
  let calls = 0;
  const counting: Ask = (call) => {
    calls++;
    return ask(call);
  };

  const found = await listAll(counting, (api, paging) => api.customers.list(paging));
  expect(found.map(({ id }) => id)).toEqual(['cus_1', 'cus_2', 'cus_3']);
  expect(calls).toBe(3);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

test.runIf(hasIpv6)('reaches a provider by its IPv6 address', async () => {
  const { port } = await provider((_, response) => response.end('{"id":"cus_1","object":"customer"}'), '::1');
  const { ask } = createPayment({ secretKey: 'sk_test_sandbox', apiUrl: `http://[::1]:${port}` });
  expect(await ask((stripe) => stripe.customers.retrieve('cus_1'))).toMatchObject({ id: 'cus_1' });
});
