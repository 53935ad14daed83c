import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type EmbeddedServer, openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';

const script = path.resolve(import.meta.dirname, '../../../../deploy/cluster/cluster.sh');
const programs = ['etcd', 'patroni', 'haproxy', 'ip', 'setpriv', 'psql'];

/** The database of the nodes, and what a fault needs to break it. */
export type FaultyDatabase = {
  url: string;
  stop: () => Promise<void>;
};

/** The embedded database, on a file system of its own if root can mount one. */
export type OwnDatabase = FaultyDatabase & {
  folder: string;
  isMounted: boolean;
  postmaster: () => number;
  reopen: () => Promise<void>;
};

/** PostgreSQL under Patroni, of deploy/cluster/cluster.sh. */
export type Cluster = FaultyDatabase & {
  /** Runs a command of the script, and returns what it prints. @throws Error if it fails. */
  run: (command: string, node?: string) => Promise<string>;
  /** Returns the nodes, the leader first. */
  inOrder: () => Promise<[leader: string, ...others: string[]]>;
};

export const hasCluster =
  process.getuid?.() === 0 && programs.every((program) => spawnSync('which', [program]).status === 0);

export async function openOwn(): Promise<OwnDatabase> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-faults-'));
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=0755', 'none', folder]).status === 0;
  // Also when a run is interrupted: the nodes, the proxy and PostgreSQL end with this process.
  process.once('exit', () => {
    if (isMounted) spawnSync('umount', ['--lazy', folder]);
    fs.rmSync(folder, { recursive: true, force: true });
  });
  let server: EmbeddedServer = await openEmbedded(folder);
  return {
    url: server.url,
    folder,
    isMounted,
    postmaster: () => Number.parseInt(fs.readFileSync(path.join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10),
    async reopen() {
      server = await openEmbedded(folder);
    },
    stop: () => server.stop(),
  };
}

export async function openCluster(): Promise<Cluster> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-cluster-'));
  process.once('exit', () => {
    spawnSync(script, ['down', folder]);
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const run = async (command: string, node = '') => {
    // What the script starts keeps its output open.
    const output = path.join(folder, `${command}.output`);
    await promisify(execFile)('sh', ['-c', `"$0" "$@" > "${output}" 2>&1`, script, command, folder, node]).catch(() => {
      throw new Error(`${command} ${node}: ${fs.readFileSync(output, 'utf8')}`);
    });
    return fs.readFileSync(output, 'utf8').trim();
  };
  const url = (await run('up')).split('\n').at(-1) ?? '';
  return {
    url,
    run,
    async inOrder() {
      const leader = await run('leader');
      return [leader, ...['db1', 'db2', 'db3'].filter((name) => name !== leader)];
    },
    stop: async () => void (await run('down')),
  };
}
