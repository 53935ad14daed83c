import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { useStandIn } from './testing/use-stand-in.ts';

const standIn = useStandIn();

async function ask(target: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${standIn.port}${target}`);
  return answer.status;
}

it('the requests of connections that are cut no longer count, once their work has ended', async () => {
  const sockets = Array.from({ length: 5 }, () => net.connect(standIn.port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(40));
  const started = async () => {
    await ask('/readyz');
    return standIn.program.output();
  };
  await expect.poll(started).toContain('200 held');
  expect(await ask('/login')).toBe(503);
  for (const socket of sockets) socket.resetAndDestroy();
  expect(await ask('/login')).toBe(503);
  await ask('/api/release');
  await expect.poll(() => ask('/login')).toBe(200);
});

it('a client that disconnects and sends again has no more requests processed at once than the limit', async () => {
  const requests = await Promise.all(Array.from({ length: 500 }, () => openRequest('/slow')));
  for (let at = 0; at < requests.length; at += 100) {
    const burst = requests.slice(at, at + 100);
    for (const { send } of burst) send();
    await pause(30);
    for (const { socket } of burst) socket.resetAndDestroy();
  }
  await expect.poll(() => ask('/login')).toBe(200);
  const answer = await fetch(`http://127.0.0.1:${standIn.port}/login`);
  expect(((await answer.json()) as { mostSlow: number }).mostSlow).toBeLessThanOrEqual(200);
});

/** Opens a connection, which sends its request when `send` is called. Resolves `status` to that of the answer. */
async function openRequest(target: string) {
  const socket = net.connect(standIn.port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const answer = once(socket, 'data').then(([bytes]) => {
    socket.destroy();
    return String(bytes);
  });
  const send = () => void socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return { send, socket, answer, status: answer.then((text) => text.slice(9, 12)) };
}

/** Resolves once the service has accepted all connections that are open: the system hands them over in their order. */
async function untilAccepted(): Promise<void> {
  const last = await openRequest('/healthz');
  last.send();
  expect(await last.status).toBe('200');
}

/** How many pages the service had rendered when it answered the probe, by its own count. */
async function renderedBeforeProbe(): Promise<number> {
  const printed = () => Number(/probed after (\d+) pages/.exec(standIn.program.output())?.[1] ?? Number.NaN);
  await expect.poll(printed).not.toBeNaN();
  return printed();
}

it('while pages arrive faster than they are rendered, those beyond the limit get 503 with Retry-After, and a probe overtakes the others', async () => {
  const flood = await Promise.all(Array.from({ length: 400 }, () => openRequest('/spin')));
  const probe = await openRequest('/readyz');
  await untilAccepted();
  // Stopped, so that all of them arrive at once, and none is rendered before the probe is sent.
  standIn.program.child.kill('SIGSTOP');
  for (const { send } of flood) send();
  probe.send();
  standIn.program.child.kill('SIGCONT');
  expect(await probe.status).toBe('200');
  // Of the 200 or more that are admitted.
  expect(await renderedBeforeProbe()).toBeLessThan(190);

  const answers = await Promise.all(flood.map(({ answer }) => answer));
  const refused = answers.filter((each) => /^HTTP\/1.1 503/.test(each));
  expect(answers.filter((each) => /^HTTP\/1.1 200/.test(each)).length).toBeGreaterThanOrEqual(200);
  expect(refused.length).toBeGreaterThan(50);
  expect(refused.every((each) => /^Retry-After: 5\r$/m.test(each))).toBe(true);
  expect(
    standIn.program.output().match(/Requests are refused: more arrive than this process can answer/g),
  ).toHaveLength(1);
});

it('a process that was stopped for a second refuses none of the requests that arrived meanwhile', async () => {
  const waiting = await Promise.all(Array.from({ length: 100 }, () => openRequest('/spin')));
  await untilAccepted();
  standIn.program.child.kill('SIGSTOP');
  for (const { send } of waiting) send();
  await pause(1_000);
  standIn.program.child.kill('SIGCONT');
  expect(new Set(await Promise.all(waiting.map(({ status }) => status)))).toEqual(new Set(['200']));
});
