import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'].find(fs.existsSync);

export const hasPooler = program !== undefined;

export type Pooler = { url: (databaseUrl: string) => string; stop: () => Promise<void> };

/**
 * A PgBouncer in transaction mode before the tests' own server, with fewer connections
 * than callers, so that two statements of one client rarely meet the same session.
 */
export async function startPooler(server: string): Promise<Pooler> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-pooler-'));
  const port = await freePort();
  const { host, hostPort, user, password } = partsOf(server);
  const secret = password ? ` password=${password}` : '';
  fs.writeFileSync(
    path.join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${host} port=${hostPort} user=${user}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
`,
  );
  fs.chmodSync(folder, 0o755);
  // It refuses to run as root, and the embedded server's socket is for its own user alone.
  const asSomebody = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const child = spawn(program ?? 'pgbouncer', [...asSomebody, path.join(folder, 'pgbouncer.ini')], { stdio: 'pipe' });
  await listening(child, port);

  return {
    url(databaseUrl) {
      const { database } = partsOf(databaseUrl);
      return `postgres://${user}@127.0.0.1:${port}/${database}`;
    },
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

function partsOf(databaseUrl: string) {
  const url = new URL(databaseUrl);
  return {
    host: url.searchParams.get('host') ?? url.hostname,
    hostPort: url.port || '5432',
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1),
  };
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let printed = '';
  child.stderr?.on('data', (bytes) => {
    printed += bytes;
  });
  for (let attempt = 0; attempt < 100 && child.exitCode === null; attempt++) {
    if (await answers(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`pgbouncer did not start: ${printed}`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.end();
      resolve(true);
    });
  });
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
