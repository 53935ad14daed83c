import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { restartInTurn } from './node.ts';
import type { World } from './world.ts';

/** Fills the file system of the database, so it needs one of its own. */
export const diskFull = 'disk full';

/** Each fault, under load. It resolves when the fault is over and everything runs again. */
export const faults: Record<string, (world: World) => Promise<void>> = {
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
  async 'killed PostgreSQL'({ postmaster, reopenDatabase }) {
    const family = familyOf(postmaster());
    for (const pid of family) process.kill(pid, 'SIGKILL');
    await pause(3_000);
    await reopenDatabase();
  },
  async 'stopped PostgreSQL'({ postmaster }) {
    const family = familyOf(postmaster());
    for (const pid of family) process.kill(pid, 'SIGSTOP');
    await pause(9_000);
    for (const pid of family) process.kill(pid, 'SIGCONT');
  },
  async [diskFull]({ folder }) {
    const filler = path.join(folder, 'filler');
    const { bavail, bsize } = fs.statfsSync(folder);
    fs.writeFileSync(filler, Buffer.alloc(bavail * bsize - 65_536));
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

/** Returns a process with its children, which the kernel does not signal together. */
function familyOf(parent: number): number[] {
  const children = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
  return [parent, ...children];
}

function parentOf(pid: number): number | null {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}
