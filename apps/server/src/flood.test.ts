import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { type Program, runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterEach, beforeEach, expect, it } from 'vitest';

let port: number;
let program: Program;
beforeEach(async () => {
  port = await freePort();
  program = runProgram(new URL('testing/serve-stand-in.ts', import.meta.url), [], {
    PORT: String(port),
    LOG_FORMAT: 'json',
    TRUSTED_PROXIES: '1',
    // The stand-in does not connect to it.
    DATABASE_URL: 'postgres://localhost/none',
  });
  await program.prints('Serving on');
});
afterEach(async () => {
  program.child.kill('SIGTERM');
  expect((await program.ended).code).toBe(0);
});

async function ask(target: string, forwardedFor: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}${target}`, { headers: { 'x-forwarded-for': forwardedFor } });
  return answer.status;
}

it('behind a proxy, the slow requests of one client do not block another, and a forged address does not count', async () => {
  // The proxy appends the address that it saw.
  const flood = Array.from({ length: 170 }, (_, at) => ask('/slow', `198.51.100.${at}, 203.0.113.1`));
  await pause(300);
  expect(await ask('/login', '203.0.113.2, 203.0.113.1')).toBe(503);
  expect(await ask('/login', '203.0.113.2')).toBe(200);
  expect((await Promise.all(flood)).filter((status) => status === 503)).toHaveLength(20);
});

it('the requests of a connection that is cut no longer count', async () => {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n'.repeat(150));
  await expect.poll(() => ask('/login', '203.0.113.1')).toBe(503);
  socket.resetAndDestroy();
  await pause(1_000);
  expect(await ask('/login', '203.0.113.1')).toBe(200);
});
