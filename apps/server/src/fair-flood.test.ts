import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { useStandIn } from './testing/use-stand-in.ts';

const standIn = useStandIn();

type Sent = { address: string; session?: string; method?: string };

/** Opens a connection. Sends a request when `send` is called, and resolves `status` to that of the answer. */
async function open(path: string, { address, session, method = 'GET' }: Sent) {
  const socket = net.connect(standIn.port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const cookie = session === undefined ? '' : `Cookie: session=${session}\r\n`;
  const text = `${method} ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n${cookie}\r\n`;
  const answer = once(socket, 'data').then(([bytes]) => {
    socket.destroy();
    return String(bytes);
  });
  const send = () => void socket.write(text);
  return { send, socket, answer, status: answer.then((bytes) => bytes.slice(9, 12)) };
}

async function ask(path: string, sent: Sent): Promise<string> {
  const request = await open(path, sent);
  request.send();
  return request.status;
}

const honest = '203.0.113.250';

it.each([
  ['pages of visitors', '/held', {}, '200'],
  ['reads with a session', '/held', { session: 'valid' }, '200'],
  ['events', '/webhooks/payment?held', { method: 'POST' }, '200'],
])('four clients with more %s open than there are places leave some for another', async (_, path, sent, status) => {
  const flood = await Promise.all(
    Array.from({ length: 400 }, (_, at) => open(path, { ...sent, address: `203.0.113.${at % 4}` })),
  );
  for (const { send } of flood) send();
  const refused = await Promise.race(flood.map((each) => each.status));
  expect(refused).toBe('503');
  const others = path === '/held' ? '/login' : '/webhooks/payment';
  for (let request = 0; request < 5; request++) expect(await ask(others, { ...sent, address: honest })).toBe(status);
  await ask('/release', { address: honest });
  const statuses = await Promise.all(flood.map((each) => each.status));
  expect(statuses.filter((each) => each === '200').length).toBeGreaterThan(150);
});

it('a session that this node has not read is served beside a flood of reads with one that it has', async () => {
  const flood = await Promise.all(
    Array.from({ length: 300 }, () => open('/held', { address: '203.0.113.1', session: 'valid' })),
  );
  for (const { send } of flood) send();
  expect(await Promise.race(flood.map((each) => each.status))).toBe('503');
  expect(await ask('/login', { address: honest, session: 'read by another node' })).toBe('200');
  await ask('/release', { address: honest });
  await Promise.all(flood.map((each) => each.status));
});

it('while what waits to start fills a class, others take places of the clients with most, who get 503 with Retry-After', async () => {
  const flood = await Promise.all(
    Array.from({ length: 400 }, (_, at) => open('/spin', { address: `198.51.100.${at % 100}` })),
  );
  const others = await Promise.all(
    Array.from({ length: 20 }, (_, at) => open('/spin', { address: `203.0.113.${at}` })),
  );
  // The system hands connections over in their order, so all of them are accepted now.
  expect(await ask('/healthz', { address: honest })).toBe('200');
  // Stopped, so that all of them arrive at once, the flood first.
  standIn.program.child.kill('SIGSTOP');
  for (const { send } of flood) send();
  for (const { send } of others) send();
  standIn.program.child.kill('SIGCONT');
  expect(new Set(await Promise.all(others.map((each) => each.status)))).toEqual(new Set(['200']));
  const answers = await Promise.all(flood.map((each) => each.answer));
  const refused = answers.filter((each) => /^HTTP\/1.1 503/.test(each));
  expect(refused.length).toBeGreaterThanOrEqual(50);
  expect(refused.every((each) => /^Retry-After: 5\r$/m.test(each))).toBe(true);
});

it('a client that disconnects and sends again has no more requests processed at once than its share', async () => {
  const requests = await Promise.all(Array.from({ length: 500 }, () => open('/slow', { address: '203.0.113.1' })));
  for (let at = 0; at < requests.length; at += 100) {
    const burst = requests.slice(at, at + 100);
    for (const { send } of burst) send();
    await pause(30);
    for (const { socket } of burst) socket.resetAndDestroy();
  }
  const other = await open('/login', { address: honest });
  other.send();
  const [, body = ''] = (await other.answer).split('\r\n\r\n');
  expect(JSON.parse(body.replace(/^[\da-f]+\r\n/, '').replace(/\r\n0$/, '')).mostSlow).toBeLessThanOrEqual(150);
});
