import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { childrenOf } from '../speed/process-use.ts';
import type { Cluster, OwnDatabase } from './database.ts';
import { restartInTurn } from './node.ts';
import type { World } from './world.ts';

/** Fills the file system of the database, so it needs one of its own. */
export const diskFull = 'disk full';

/** Each fault, under load. It resolves when the fault is over and everything runs again. */
export const faults: Record<string, (world: World<OwnDatabase>) => Promise<void>> = {
  async 'cut connections'({ databaseProxy }) {
    databaseProxy.cut();
    await pause(8_000);
    databaseProxy.restore();
  },
  async 'some connections cut'({ databaseProxy }) {
    databaseProxy.cutOldest(8);
    await pause(8_000);
  },
  async 'killed node'({ nodes: [node] }) {
    await node?.end('SIGKILL');
    await pause(3_000);
    await node?.start();
  },
  async 'killed PostgreSQL'({ database }) {
    const family = familyOf(database.postmaster());
    for (const pid of family) process.kill(pid, 'SIGKILL');
    await pause(3_000);
    await database.reopen();
  },
  async 'stopped PostgreSQL'({ database }) {
    const family = familyOf(database.postmaster());
    for (const pid of family) process.kill(pid, 'SIGSTOP');
    await pause(9_000);
    for (const pid of family) process.kill(pid, 'SIGCONT');
  },
  async [diskFull]({ database: { folder } }) {
    const filler = path.join(folder, 'filler');
    fill(filler);
    await pause(8_000);
    fs.rmSync(filler);
  },
  async 'mail server silent'({ mailProxy }) {
    mailProxy.cut();
    await pause(8_000);
    mailProxy.restore();
  },
  async 'provider silent'({ providerProxy }) {
    providerProxy.cut();
    await pause(8_000);
    providerProxy.restore();
  },
  async 'rolling restart'({ nodes }) {
    await restartInTurn(nodes);
  },
};

/** The faults of a cluster. Patroni's smallest limit replaces a leader that vanished after 20 s. */
export const clusterFaults: Record<string, (world: World<Cluster>) => Promise<void>> = {
  async 'leader killed'({ database }) {
    const [leader] = await database.inOrder();
    await database.run('kill', leader);
    await pause(30_000);
    await database.run('start', leader);
  },
  async 'leader frozen'({ database }) {
    const [leader] = await database.inOrder();
    await database.run('freeze', leader);
    await pause(30_000);
    await database.run('thaw', leader);
  },
  async 'leader cut off'({ database }) {
    const [leader] = await database.inOrder();
    await database.run('cut', leader);
    await pause(30_000);
    await database.run('join', leader);
  },
  async 'standby killed'({ database }) {
    const [, standby = ''] = await database.inOrder();
    await database.run('kill', standby);
    await pause(10_000);
    await database.run('start', standby);
  },
  async 'one of three etcd killed'({ database }) {
    const [leader] = await database.inOrder();
    await database.run('kill-etcd', leader);
    await pause(10_000);
    await database.run('start-etcd', leader);
  },
  async 'planned switchover'({ database }) {
    await database.run('switchover');
  },
  async 'rolling upgrade of everything'({ database, nodes }) {
    const [leader, ...standbys] = await database.inOrder();
    for (const standby of standbys) await restart(database, standby);
    await database.run('switchover');
    await restart(database, leader);
    await restartInTurn(nodes);
  },
};

async function restart(database: Cluster, node: string): Promise<void> {
  await database.run('whole');
  await database.run('stop', node);
  await database.run('start', node);
  await database.run('whole');
}

/** Writes a file until its file system is full: the database writes meanwhile, so no size is known. */
function fill(file: string): void {
  const bytes = Buffer.alloc(1_048_576);
  const descriptor = fs.openSync(file, 'w');
  try {
    for (;;) fs.writeSync(descriptor, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Returns a process with its children, which the kernel does not signal together. */
function familyOf(parent: number): number[] {
  return [parent, ...childrenOf(parent)];
}
