import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Connection, openDatabase } from '@gatehouse/api/platform/db/client';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { clusterFolder } from '@gatehouse/embedded-postgres/cluster';
import { type Server, startServer } from '@gatehouse/embedded-postgres/server';
import { killAll } from './processes.ts';

export type Pair = {
  /** A DATABASE_URL with both hosts. The standby comes first, because the order must not matter. */
  url: string;
  /** Kills all processes of the primary with SIGKILL. */
  killPrimary: () => void;
  /** Promotes the standby to primary and connects to it. */
  promoteStandby: () => Promise<Connection>;
  stop: () => Promise<void>;
};

/**
 * Starts a primary and a standby with synchronous replication, both from the embedded PostgreSQL.
 * The standby starts as a copy of a stopped cluster.
 */
export async function startPair(): Promise<Pair> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-pair-'));
  const cluster = await clusterFolder(path.join(folder, 'first'));
  // Both are reached over TCP on loopback, where peer authentication does not exist.
  fs.writeFileSync(path.join(cluster, 'pg_hba.conf'), 'host all,replication all 127.0.0.1/32 trust\n');
  const copy = path.join(folder, 'second', 'postgres');
  fs.mkdirSync(path.dirname(copy), { mode: fs.statSync(path.dirname(cluster)).mode });
  // -a keeps the owner, as which PostgreSQL runs.
  execFileSync('cp', ['-a', cluster, copy]);
  fs.writeFileSync(path.join(copy, 'standby.signal'), '');

  const [port, standbyPort] = [await freePort(), await freePort()];
  const primary = await start(cluster, { port: `${port}`, synchronous_standby_names: '*' });
  const standby = await start(copy, {
    port: `${standbyPort}`,
    primary_conninfo: `host=127.0.0.1 port=${port} user=postgres`,
  });
  const names = `gatehouse@127.0.0.1:${standbyPort},127.0.0.1:${port}`;

  return {
    url: `postgres://${names}/gatehouse?target_session_attrs=primary`,
    killPrimary: () => killAll(primary.pid),
    async promoteStandby() {
      const url = `postgres://postgres@127.0.0.1:${standbyPort}/gatehouse`;
      const opened = openDatabase({ url, pool: 1, prepare: true });
      await opened.sql`select pg_promote()`;
      return opened;
    },
    async stop() {
      await Promise.all([primary.stop(), standby.stop()]);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function start(cluster: string, settings: Record<string, string>): Promise<Server> {
  const network = { listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const server = await startServer(cluster, cluster, { ...network, ...settings });
  const url = `postgres://gatehouse@127.0.0.1:${settings.port}/gatehouse`;
  for (let attempt = 0; attempt < 200 && !server.ended(); attempt++) {
    const { sql, close } = openDatabase({ url, pool: 1, prepare: false });
    const answered = await sql`select 1`.then(
      () => true,
      () => false,
    );
    await close();
    if (answered) return server;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`PostgreSQL did not start. ${server.printed()}`);
}
