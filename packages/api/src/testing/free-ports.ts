import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

/** Returns a free port below the range from which the system assigns ports to outgoing connections. */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return firstOfFree(1, host);
}

/** Returns the first of several consecutive free ports. */
export function freePorts(count: number): Promise<number> {
  return firstOfFree(count, '127.0.0.1');
}

async function firstOfFree(count: number, host: string): Promise<number> {
  for (;;) {
    const first = randomInt(15_000, 30_000);
    const wanted = Array.from({ length: count }, (_, index) => first + index);
    const free = await Promise.all(wanted.map((port) => isFree(port, host)));
    if (free.every(Boolean)) return first;
  }
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = net.createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
