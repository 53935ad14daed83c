import { setTimeout as pause } from 'node:timers/promises';
import { compareMails, compareRows, join } from './faults/compare-accepted.ts';
import { diskFull, faults } from './faults/faults.ts';
import { describe, startLoad } from './faults/load.ts';
import { hasProxy, openWorld, type World } from './faults/world.ts';

// Runs two nodes behind HAProxy under a steady load of 25 requests a second (sign-ups, events of the payment
// provider, reads of a session, /login) through each fault, and counts what callers saw and what was kept.
// FAULTS chooses some by a part of their names. All take four minutes.

const longestSeconds = 10;
const steadySeconds = 2;

if (!hasProxy) {
  console.log('HAProxy is not installed: the faults are not run.');
  process.exit(0);
}
const chosen = Object.entries(faults).filter(([name]) => name.includes(process.env.FAULTS ?? ''));
const world = await openWorld();
let isSound = true;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
for (const [name, fault] of chosen) {
  if (name === diskFull && !world.isMounted)
    console.log(`${name}: not run, because only root may mount a file system.`);
  else await measure(name, fault);
}
await world.close();
process.exit(isSound ? 0 : 1);

async function measure(name: string, fault: (world: World) => Promise<void>): Promise<void> {
  const before = world.nodes.flatMap((node) => node.databaseLines()).length;
  const load = startLoad(world);
  await pause(steadySeconds * 1000);
  await fault(world);
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
