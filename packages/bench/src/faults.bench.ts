import { setTimeout as pause } from 'node:timers/promises';
import { compareMails, compareRows, join } from './faults/compare-accepted.ts';
import { hasCluster, openCluster, openOwn } from './faults/database.ts';
import { clusterFaults, diskFull, faults } from './faults/faults.ts';
import { describe, startLoad } from './faults/load.ts';
import { hasProxy, openWorld, type World } from './faults/world.ts';

// Runs two nodes behind HAProxy under a steady load of 25 requests a second (sign-ups, events of the payment
// provider, reads of a session, /login) through each fault, and counts what callers saw and what was kept.
// Then the same on a cluster of three database nodes (deploy/cluster), whose leader is killed, frozen and cut off. FAULTS
// chooses some by a regular expression for their names. All take ten minutes.

const longestSeconds = 10;
const steadySeconds = 2;

if (!hasProxy) {
  console.log('HAProxy is not installed: the faults are not run.');
  process.exit(0);
}
let isSound = true;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

const own = chosenOf(faults);
if (own.length > 0) {
  const world = await openWorld(await openOwn());
  for (const [name, fault] of own) {
    if (name === diskFull && !world.database.isMounted)
      console.log(`${name}: not run, because only root may mount a file system.`);
    else await measure(world, name, () => fault(world));
  }
  await world.close();
}

const ofCluster = chosenOf(clusterFaults);
if (ofCluster.length > 0 && !hasCluster) {
  console.log('The cluster is not run: it needs root, and etcd, patroni and PostgreSQL of the system.');
} else if (ofCluster.length > 0) {
  const world = await openWorld(await openCluster());
  for (const [name, fault] of ofCluster) {
    await measure(world, name, () => fault(world));
    await world.database.run('whole');
  }
  await world.close();
}
process.exit(isSound ? 0 : 1);

function chosenOf<Fault>(all: Record<string, Fault>): [string, Fault][] {
  return Object.entries(all).filter(([name]) => new RegExp(process.env.FAULTS ?? '').test(name));
}

async function measure(world: World, name: string, fault: () => Promise<void>): Promise<void> {
  const before = world.nodes.flatMap((node) => node.databaseLines()).length;
  const load = startLoad(world);
  await pause(steadySeconds * 1000);
  await fault();
  await Promise.all(world.nodes.map((node) => node.recovers()));
  await pause(steadySeconds * 1000);
  const seen = await load.stop();

  const rows = await world.withDatabase((sql) => compareRows(sql, seen));
  const kept = join(rows, await compareMails(world.sandbox, seen.signUps));
  world.sandbox.mailbox.clear();
  const lines = world.nodes.flatMap((node) => node.databaseLines()).length - before;
  console.log(`${name}: ${describe(seen)}; ${kept.text}; ${lines} lines`);
  isSound &&= kept.isComplete && seen.longestMilliseconds < longestSeconds * 1000;
  if (name === 'rolling restart') isSound &&= seen.failures.size === 0;
}
