import { setTimeout as pause } from 'node:timers/promises';
import { faults } from './faults/faults.ts';
import { type Seen, startLoad } from './faults/load.ts';
import { hasProxy, openWorld, type World } from './faults/world.ts';

// Runs two nodes behind HAProxy under a steady load of 25 requests a second (sign-ups, events of the payment
// provider, reads of a session, /login) through each fault, and counts what callers saw and what was kept.
// FAULTS chooses some by a part of their names.

const longestSeconds = 10;
const mailSeconds = 120;

if (!hasProxy) {
  console.log('HAProxy is not installed: the faults are not run.');
  process.exit(0);
}
const chosen = Object.entries(faults).filter(([name]) => name.includes(process.env.FAULTS ?? ''));
const world = await openWorld();
let isSound = true;
for (const [name, fault] of chosen) await measure(name, fault);
await world.close();
process.exit(isSound ? 0 : 1);

async function measure(name: string, fault: (world: World) => Promise<void>): Promise<void> {
  const before = world.nodes.flatMap((node) => node.episodes()).length;
  const load = startLoad(world);
  await pause(3_000);
  const problem = await fault(world).then(
    () => null,
    (error: Error) => error.message,
  );
  await pause(6_000);
  const seen = await load.stop();
  if (problem !== null) {
    console.log(`${name}: not run, it ${problem}.`);
    return;
  }

  const kept = await count(seen);
  const failed = [...seen.failures].map(([status, times]) => `${status}: ${times}`).join(', ') || 'none';
  const longest = (seen.longestMilliseconds / 1000).toFixed(1);
  const lines = world.nodes.flatMap((node) => node.episodes()).length - before;
  console.log(
    `${name}: ${seen.requests} requests, failures ${failed}; longest ${longest} s; ${kept.text}; ${lines} lines`,
  );
  isSound &&= kept.isComplete && seen.longestMilliseconds < longestSeconds * 1000;
  if (name === 'rolling restart') isSound &&= seen.failures.size === 0;
}

async function count({ signUps, events }: Seen): Promise<{ text: string; isComplete: boolean }> {
  const { users, sent } = await world.withDatabase(async (sql) => ({
    users: tally((await sql`select email from users where email = any(${signUps})`).map(({ email }) => email)),
    sent: tally((await sql`select id from payment_events where id = any(${events})`).map(({ id }) => id)),
  }));
  await allMailed(signUps);
  const mails = tally(world.sandbox.mailbox.messages().flatMap(({ to }) => to));
  const parts = [
    compare('sign-ups', signUps, users),
    compare('mails', signUps, mails),
    compare('events', events, sent),
  ];
  world.sandbox.mailbox.clear();
  return { text: parts.map(({ text }) => text).join('; '), isComplete: parts.every(({ isComplete }) => isComplete) };
}

async function allMailed(addresses: string[]): Promise<void> {
  for (const deadline = Date.now() + mailSeconds * 1000; Date.now() < deadline; await pause(500)) {
    const mails = tally(world.sandbox.mailbox.messages().flatMap(({ to }) => to));
    if (addresses.every((address) => mails.has(address))) return;
  }
}

function tally(names: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function compare(what: string, accepted: string[], found: Map<string, number>) {
  const lost = accepted.filter((name) => !found.has(name)).length;
  const doubled = accepted.filter((name) => (found.get(name) ?? 0) > 1).length;
  return { text: `${what} ${accepted.length}, lost ${lost}, doubled ${doubled}`, isComplete: lost + doubled === 0 };
}
