import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { useStandIn } from './testing/use-stand-in.ts';

const standIn = useStandIn();

async function ask(target: string, forwardedFor: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${standIn.port}${target}`, {
    headers: { 'x-forwarded-for': forwardedFor },
  });
  return answer.status;
}

/** Sends requests that are answered after `release`, and counts those that are refused. */
function hold(count: number, addressOf: (at: number) => string) {
  const held = { statuses: [] as Promise<number>[], refused: 0, release: () => ask('/release', '203.0.113.250') };
  for (let at = 0; at < count; at++) held.statuses.push(ask('/held', addressOf(at)));
  for (const status of held.statuses) status.then((code) => (held.refused += code === 503 ? 1 : 0));
  return held;
}

it('behind a proxy, the slow requests of one client do not block another, and a forged address does not count', async () => {
  // The proxy appends the address that it saw.
  const flood = hold(170, (at) => `198.51.100.${at}, 203.0.113.1`);
  await expect.poll(() => flood.refused).toBe(20);
  expect(await ask('/login', '203.0.113.2, 203.0.113.1')).toBe(503);
  expect(await ask('/login', '203.0.113.2')).toBe(200);
  await flood.release();
  expect((await Promise.all(flood.statuses)).filter((status) => status === 200)).toHaveLength(150);
});

it('a client that repeats a refused request at once gets few refusals a second', async () => {
  const flood = hold(150, () => '203.0.113.1');
  await expect.poll(() => ask('/login', '203.0.113.1'), { interval: 1 }).toBe(503);
  const end = performance.now() + 700;
  let refused = 1;
  while (performance.now() < end) {
    expect(await ask('/login', '203.0.113.1')).toBe(503);
    refused++;
  }
  expect(refused).toBeLessThan(5);
  await flood.release();
  await Promise.all(flood.statuses);
});

it('the requests of connections that are cut no longer count', async () => {
  const sockets = Array.from({ length: 5 }, () => net.connect(standIn.port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const slow = 'GET /slow HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n';
  for (const socket of sockets) socket.write(slow.repeat(30));
  await expect.poll(() => ask('/login', '203.0.113.1')).toBe(503);
  for (const socket of sockets) socket.resetAndDestroy();
  await expect.poll(() => ask('/login', '203.0.113.1')).toBe(200);
});

it('a connection that sends requests without waiting for any answer is closed', async () => {
  const socket = net.connect(standIn.port, '127.0.0.1').resume();
  const closed = once(socket, 'close');
  socket.on('error', () => {});
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
  await closed;
  expect(await ask('/login', '203.0.113.1')).toBe(200);
});

it('requests whose bodies do not come give their places to others', async () => {
  const header = 'POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nX-Forwarded-For: 198.51.100.';
  const sockets = Array.from({ length: 200 }, () => net.connect(standIn.port, '127.0.0.1').resume());
  for (const socket of sockets) {
    socket.on('error', () => {});
    await once(socket, 'connect');
  }
  const next = await openRequest('/login', '203.0.113.9');
  await untilAccepted();
  // Stopped, so that all of them arrive before the first one has waited too long.
  standIn.program.child.kill('SIGSTOP');
  for (const [at, socket] of sockets.entries()) socket.write(`${header}${at}\r\n\r\n`);
  next.send();
  standIn.program.child.kill('SIGCONT');
  expect(await next.status).toBe('503');
  await expect
    .poll(() => Promise.all([ask('/login', '203.0.113.9'), ask('/login', '198.51.100.1')]))
    .toEqual([200, 200]);
  for (const socket of sockets) socket.destroy();
});

/** Starts a request whose body has no Content-Length, and is so long until now. */
function sendChunk(target: string, bytes: number): net.Socket {
  const socket = net.connect(standIn.port, '127.0.0.1').on('error', () => {});
  socket.write(
    `POST ${target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n`,
  );
  socket.write(`${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`);
  return socket;
}

it('a client may send many short bodies without Content-Length at once, and of long ones as much as of others', async () => {
  const short = Array.from({ length: 100 }, () => sendChunk('/read', 10));
  const answers = short.map((socket) => once(socket, 'data'));
  for (const socket of short) socket.write('0\r\n\r\n');
  for (const [answer] of await Promise.all(answers)) expect(String(answer)).toMatch(/^HTTP\/1.1 200/);

  const open = new Set(Array.from({ length: 20 }, () => sendChunk('/read', 1_000_000)));
  for (const socket of open) for (const end of ['data', 'close']) socket.once(end, () => open.delete(socket));
  await expect.poll(() => open.size > 0 && open.size <= 8, { interval: 10 }).toBe(true);
  for (const socket of [...short, ...open]) socket.destroy();
});

/** Opens a connection, which sends its request when `send` is called. Resolves `status` to that of the answer. */
async function openRequest(target: string, forwardedFor: string) {
  const socket = net.connect(standIn.port, '127.0.0.1');
  await once(socket, 'connect');
  const status = once(socket, 'data').then(([bytes]) => {
    socket.destroy();
    return String(bytes).slice(9, 12);
  });
  const send = () => void socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${forwardedFor}\r\n\r\n`);
  return { send, status };
}

/** Resolves once the service has accepted all connections that are open: the system hands them over in their order. */
async function untilAccepted(): Promise<void> {
  const last = await openRequest('/healthz', '203.0.113.9');
  last.send();
  expect(await last.status).toBe('200');
}

/** How many pages the service had rendered when it answered the probe, by its own count. */
async function renderedBeforeProbe(): Promise<number> {
  const printed = () => Number(/probed after (\d+) pages/.exec(standIn.program.output())?.[1] ?? Number.NaN);
  await expect.poll(printed).not.toBeNaN();
  return printed();
}

it('while pages arrive faster than they are rendered, those beyond the limit get 503, and a probe overtakes the others', async () => {
  const flood = await Promise.all(Array.from({ length: 400 }, (_, at) => openRequest('/spin', `203.0.113.${at % 4}`)));
  const probe = await openRequest('/readyz', '203.0.113.9');
  await untilAccepted();
  // Stopped, so that all of them arrive at once, and none is rendered before the probe is sent.
  standIn.program.child.kill('SIGSTOP');
  for (const { send } of flood) send();
  probe.send();
  standIn.program.child.kill('SIGCONT');
  expect(await probe.status).toBe('200');
  // Of the 185 that get places.
  expect(await renderedBeforeProbe()).toBeLessThan(170);

  const codes = await Promise.all(flood.map(({ status }) => status));
  expect(codes.filter((code) => code === '200').length).toBeGreaterThanOrEqual(180);
  expect(codes.filter((code) => code === '503').length).toBeGreaterThan(50);
  expect(
    standIn.program.output().match(/Requests are refused: more arrive than this process can answer/g),
  ).toHaveLength(1);
});

it('when the database answers many pages at once, they are rendered in turns, and a probe on a new connection overtakes them', async () => {
  const pages = await Promise.all(
    Array.from({ length: 150 }, (_, at) => openRequest('/together', `203.0.113.${at % 4}`)),
  );
  let rendered = 0;
  for (const { status } of pages) status.then(() => rendered++);
  for (const { send } of pages) send();
  await expect.poll(() => rendered, { interval: 1 }).toBeGreaterThan(0);
  expect(await ask('/readyz', '203.0.113.9')).toBe(200);
  // All of them, if they are rendered in one turn.
  expect(await renderedBeforeProbe()).toBeLessThan(150);
  expect(new Set(await Promise.all(pages.map(({ status }) => status)))).toEqual(new Set(['200']));
});

it('while new connections flood the service with pages, a probe on a new connection overtakes them', async () => {
  standIn.program.child.kill('SIGSTOP');
  // More would not fit into the queue of the system, in which they wait while the process is stopped.
  const flood = Array.from({ length: 400 }, (_, at) => ask('/spin', `203.0.113.${at % 4}`));
  await pause(1_000);
  const probe = ask('/readyz', '203.0.113.9');
  await pause(100);
  standIn.program.child.kill('SIGCONT');
  expect(await probe).toBe(200);
  // All 400, if each is rendered once its connection is accepted. With a small share of the processor more than half.
  expect(await renderedBeforeProbe()).toBeLessThan(380);
  const codes = await Promise.all(flood);
  expect(codes.filter((code) => code === 200).length).toBeGreaterThanOrEqual(180);
});

it('a process that was stopped for a second refuses none of the requests that arrived meanwhile', async () => {
  const waiting = await Promise.all(Array.from({ length: 100 }, () => openRequest('/spin', '203.0.113.1')));
  await untilAccepted();
  standIn.program.child.kill('SIGSTOP');
  for (const { send } of waiting) send();
  await pause(1_000);
  standIn.program.child.kill('SIGCONT');
  expect(new Set(await Promise.all(waiting.map(({ status }) => status)))).toEqual(new Set(['200']));
});
