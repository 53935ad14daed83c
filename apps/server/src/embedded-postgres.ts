import fs from 'node:fs';
import path from 'node:path';
import { clusterFolder } from './postgres-cluster.ts';
import { probe, watch } from './postgres-probe.ts';
import { type Server, startServer } from './postgres-server.ts';
import { socketFolder } from './postgres-socket.ts';

export type Embedded = {
  /** libpq's form, with the private socket as host. */
  url: string;
  /** False when a living server was adopted: then it is somebody else's to stop. */
  started: boolean;
  stop(): Promise<void>;
  /** Calls back once when the server is gone without `stop`, adopted or not. */
  onExit(callback: () => void): void;
};

const retryMilliseconds = 10_000;

/**
 * A PostgreSQL that takes queries, with its data below `dataDir` and a socket
 * that only this user can reach. A living one is adopted, else one is started;
 * it stops in good order when this process ends, even by kill -9. `settings`
 * are for a server started here (tests switch fsync off). Throws a sentence for
 * the operator when there can be none.
 */
export async function openEmbedded(dataDir: string, settings: Record<string, string> = {}): Promise<Embedded> {
  const cluster = await clusterFolder(dataDir);
  const giveUpAt = Date.now() + retryMilliseconds;

  for (;;) {
    const sockets = socketFolder(cluster);
    const presence = await probe(sockets);
    if (presence === 'ready') return embedded(sockets, null);

    if (presence === 'absent') {
      const server = await startServer(cluster, sockets, settings);
      if (await takesQueries(server, cluster, sockets)) return embedded(sockets, server);

      // The leavings of a server that is still on its way out, or somebody else was faster.
      const passing = server.blocked() && Date.now() < giveUpAt;
      if (!passing) throw new Error(`PostgreSQL did not start. ${server.complaint()}`);
    }
    await pause(50);
  }
}

function embedded(sockets: string, server: Server | null): Embedded {
  let gone = false;
  const callbacks: (() => void)[] = [];
  const watcher = watch(sockets, () => {
    gone = true;
    for (const callback of callbacks) callback();
  });

  return {
    url: `postgres://gatehouse@localhost/gatehouse?host=${encodeURIComponent(sockets)}`,
    started: server !== null,
    onExit(callback) {
      if (gone) callback();
      else callbacks.push(callback);
    },
    async stop() {
      watcher.stop();
      if (!server) return;
      await server.stop();
      fs.rmSync(sockets, { recursive: true, force: true });
    },
  };
}

/** False when the server ended instead, or another starter's holds the cluster. */
async function takesQueries(server: Server, cluster: string, sockets: string): Promise<boolean> {
  while (!server.ended()) {
    if ((await probe(sockets)) === 'ready' && lockHolder(cluster) === server.pid) return true;
    await pause(10);
  }
  return false;
}

function lockHolder(cluster: string): number | null {
  try {
    return Number.parseInt(fs.readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8'), 10);
  } catch {
    return null;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
