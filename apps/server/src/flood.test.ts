import { once } from 'node:events';
import net from 'node:net';
import { runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { expect, it } from 'vitest';

it('behind a proxy, the slow requests of one client leave places to another, and a forged address takes none', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  const program = runProgram(new URL('testing/serve-stand-in.ts', import.meta.url), [], {
    PORT: String(port),
    LOG_FORMAT: 'json',
    TRUSTED_PROXIES: '1',
    // The stand-in does not connect to it.
    DATABASE_URL: 'postgres://localhost/none',
  });
  await program.prints('Serving on');
  const ask = async (target: string, forwardedFor: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${target}`, { headers: { 'x-forwarded-for': forwardedFor } });
    return answer.status;
  };

  // The proxy appends the address that it saw.
  const flood = Array.from({ length: 170 }, (_, at) => ask('/slow', `198.51.100.${at}, 203.0.113.1`));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await ask('/login', '203.0.113.2, 203.0.113.1')).toBe(503);
  expect(await ask('/login', '203.0.113.2')).toBe(200);
  expect((await Promise.all(flood)).filter((status) => status === 503)).toHaveLength(20);
  program.child.kill('SIGTERM');
  expect((await program.ended).code).toBe(0);
});
