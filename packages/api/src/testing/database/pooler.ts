import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { userName } from '@gatehouse/embedded-postgres/account';
import { findProgram, startProgram } from '../server-program.ts';

const program = findProgram('pgbouncer');

export const hasPooler = program !== undefined;

export type Pooler = { url: (databaseUrl: string) => string; stop: () => Promise<void> };

/**
 * Starts a PgBouncer in transaction mode in front of the tests' database server. It has fewer
 * connections than the tests use, so that two statements of one client rarely get the same session.
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
  // PgBouncer refuses to run as root, and the embedded server accepts only its own user.
  const asUser = process.getuid?.() === 0 ? ['-u', serverUser(host) ?? 'postgres'] : [];
  const args = [...asUser, path.join(folder, 'pgbouncer.ini')];
  // On another signal it would wait for every client to disconnect.
  const running = await startProgram(program ?? 'pgbouncer', args, { port, signal: 'SIGKILL' });

  return {
    url(databaseUrl) {
      const { database } = partsOf(databaseUrl);
      return `postgres://${user}@127.0.0.1:${port}/${database}`;
    },
    async stop() {
      await running.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the owner of the socket's folder; null for a server on a network. */
function serverUser(host: string): string | null {
  return host.startsWith('/') ? userName(fs.statSync(host).uid) : null;
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

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
