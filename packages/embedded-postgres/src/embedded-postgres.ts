import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { postgresAccount } from './account.ts';
import { clusterFolder } from './cluster.ts';
import { isServed, lockHolder } from './lock-file.ts';
import { probe, watch } from './probe.ts';
import { serviceRole, writeAccessRules } from './roles.ts';
import { type Server, startServer } from './server.ts';
import { socketFolder } from './socket.ts';
import { explainOutput, isBlocked } from './startup-error.ts';

export type EmbeddedServer = {
  /** In libpq's form, with the private socket as host. */
  url: string;
  /** False if a running server was adopted. The process that started it stops it. */
  started: boolean;
  stop(): Promise<void>;
  /** Calls back once if the server ends without `stop`, adopted or not. */
  onExit(callback: () => void): void;
};

type EmbeddedOptions = {
  /** Settings of a server that is started here; tests switch fsync off. */
  settings?: Record<string, string>;
  /** Whether the role in `url` may create databases. Applies when the cluster is created. */
  createDatabases?: boolean;
};

/** The settings of a server whose data is temporary: a crash may lose it. */
export const temporary = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // A start and a query take 10 % less of a processor without the processes for asynchronous reading.
  io_method: 'sync',
  // It runs as the superuser, whose processes the service's role may not end when it drops a database.
  autovacuum: 'off',
};

const retryMilliseconds = 10_000;

/**
 * Opens a PostgreSQL that accepts queries, with its data in `dataDir` and a socket that only the
 * cluster's operating-system user and root can reach. Adopts a running server, else starts one,
 * which shuts down cleanly when this process ends, even by kill -9. The role in `url` owns its database and is not a superuser.
 *
 * @throws Error with a sentence for the operator if no server can be started.
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const cluster = await clusterFolder(dataDir, options);
  const giveUpAt = Date.now() + retryMilliseconds;

  for (;;) {
    const presence = await probe(socketFolder(cluster));
    if (presence === 'ready') return embedded(socketFolder(cluster), null);

    if (presence === 'absent') {
      const { server, reason, blocked } = await start(cluster, dataDir, options.settings ?? {});
      if (server) return embedded(socketFolder(cluster), server);

      // Another server is still shutting down, or another process started one first.
      if (!blocked || Date.now() >= giveUpAt) throw new Error(`PostgreSQL did not start. ${reason}`);
    }
    await pause(50);
  }
}

type Start = { server: Server | null; reason: string; blocked: boolean };

async function start(cluster: string, dataDir: string, settings: Record<string, string>): Promise<Start> {
  if (isServed(cluster)) return { server: null, ...failure('lock file "postmaster.pid" already exists', dataDir) };
  try {
    await writeAccessRules(postgresAccount(cluster), cluster);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return { server: null, ...failure(stderr || message, dataDir) };
  }
  const sockets = socketFolder(cluster);
  const server = await startServer(cluster, sockets, settings);
  if (await acceptsQueries(server, cluster, sockets)) return { server, reason: '', blocked: false };
  return { server: null, ...failure(server.printed(), dataDir) };
}

function failure(output: string, dataDir: string): { reason: string; blocked: boolean } {
  return { reason: explainOutput(output, dataDir), blocked: isBlocked(output) };
}

function embedded(sockets: string, server: Server | null): EmbeddedServer {
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

/** Resolves to false if the server ended, or another process's server uses the cluster. */
async function acceptsQueries(server: Server, cluster: string, sockets: string): Promise<boolean> {
  while (!server.ended()) {
    if ((await probe(sockets)) === 'ready' && lockHolder(cluster) === server.pid) return true;
    await pause(10);
  }
  return false;
}
