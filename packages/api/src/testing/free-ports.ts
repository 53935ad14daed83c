import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

/**
 * Returns a free port below the range from which the system assigns ports to outgoing connections. No other process
 * that asks here gets it while this one runs.
 */
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
    if (await areOurs(wanted, host)) return first;
  }
}

async function areOurs(ports: number[], host: string): Promise<boolean> {
  for (const port of ports) if (!(await isClaimed(port)) || !(await isFree(port, host))) return false;
  return true;
}

/**
 * Claims a port for the life of this process: a server takes seconds to listen on it, and until then another process
 * would find it free. The claim is a socket in Linux's abstract names, which end with their process.
 */
async function isClaimed(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const claim = net.createServer().listen(`\0gatehouse-test-port-${port}`).unref();
  return once(claim, 'listening').then(
    () => true,
    () => false,
  );
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
