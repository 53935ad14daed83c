import fs from 'node:fs';
import { clusterFolder, prepareCluster } from './cluster.ts';
import { explain, isBlocked } from './complaint.ts';
import { isServed, lockHolder } from './lock-file.ts';
import { probe, watch } from './probe.ts';
import { serviceRole } from './roles.ts';
import { type Server, startServer } from './server.ts';
import { socketFolder } from './socket.ts';

export type Embedded = {
  /** libpq's form, with the private socket as host. */
  url: string;
  /** False when a living server was adopted, which another process stops. */
  started: boolean;
  stop(): Promise<void>;
  /** Calls back once when the server is gone without `stop`, adopted or not. */
  onExit(callback: () => void): void;
};

export type EmbeddedOptions = {
  /** Of a server that is started here; tests switch fsync off. */
  settings?: Record<string, string>;
  /** Whether the role in `url` may create databases, where the cluster is made here. */
  createDatabases?: boolean;
};

const retryMilliseconds = 10_000;

/**
 * A PostgreSQL that takes queries, with its data below `dataDir` and a socket that only the
 * cluster's own operating-system user and root can reach. Adopts a living one, else starts one,
 * which stops in good order when this process ends, even by kill -9. A data directory of an
 * earlier version is upgraded first. The role in `url` owns its database and is no superuser.
 *
 * @throws Error with a sentence for the operator when there can be no server.
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<Embedded> {
  const cluster = await clusterFolder(dataDir, options);
  const giveUpAt = Date.now() + retryMilliseconds;

  for (;;) {
    const presence = await probe(socketFolder(cluster));
    if (presence === 'ready') return embedded(socketFolder(cluster), null);

    if (presence === 'absent') {
      const { server, complaint, blocked } = await start(cluster, dataDir, options.settings ?? {});
      if (server) return embedded(socketFolder(cluster), server);

      // The remains of a server that is still ending, or another process was faster.
      if (!blocked || Date.now() >= giveUpAt) throw new Error(`PostgreSQL did not start. ${complaint}`);
    }
    await pause(50);
  }
}

type Start = { server: Server | null; complaint: string; blocked: boolean };

async function start(cluster: string, dataDir: string, settings: Record<string, string>): Promise<Start> {
  if (isServed(cluster)) return { server: null, ...failure('lock file "postmaster.pid" already exists', dataDir) };
  try {
    await prepareCluster(cluster);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return { server: null, ...failure(stderr || message, dataDir) };
  }
  const sockets = socketFolder(cluster);
  const server = await startServer(cluster, sockets, settings);
  if (await takesQueries(server, cluster, sockets)) return { server, complaint: '', blocked: false };
  return { server: null, ...failure(server.printed(), dataDir) };
}

function failure(output: string, dataDir: string): { complaint: string; blocked: boolean } {
  return { complaint: explain(output, dataDir), blocked: isBlocked(output) };
}

function embedded(sockets: string, server: Server | null): Embedded {
  let gone = false;
  const callbacks: (() => void)[] = [];
  const watcher = watch(sockets, () => {
    gone = true;
    for (const callback of callbacks) callback();
  });

  return {
    url: `postgres://${serviceRole}@localhost/${serviceRole}?host=${encodeURIComponent(sockets)}`,
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

/** False when the server ended, or another process's server has the cluster. */
async function takesQueries(server: Server, cluster: string, sockets: string): Promise<boolean> {
  while (!server.ended()) {
    if ((await probe(sockets)) === 'ready' && lockHolder(cluster) === server.pid) return true;
    await pause(10);
  }
  return false;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
