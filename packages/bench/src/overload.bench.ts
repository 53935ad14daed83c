import { setTimeout as pause } from 'node:timers/promises';
import autocannon from 'autocannon';
import { openOwn } from './faults/database.ts';
import { type Answer, describe, longestOf, probe, probeRequests } from './faults/probes.ts';
import { openWorld } from './faults/world.ts';

// Measures how many pages a second the nodes can render, then sends twice that rate for some seconds. Measures how
// long the answers to probes, webhooks and signed-in reads take during this overload, and until when afterwards.
// BENCH_SECONDS is the length of the overload.

const capacitySeconds = 5;
const overloadSeconds = Number(process.env.BENCH_SECONDS ?? 10);
const recoveryLimitSeconds = 5;

const world = await openWorld(await openOwn());
// With this query the page is rendered. Without it the nodes answer from memory, faster than HAProxy and the sender of
// the load can bear on the same machine.
const url = `${world.origin}/login?rendered`;
const alone = await autocannon({ url, connections: 20, duration: capacitySeconds });
const capacity = alone.requests.average;
const before = longestOf(await probe(world));

const overload = autocannon({
  url,
  connections: 1_000,
  duration: overloadSeconds,
  overallRate: Math.round(2 * capacity),
  timeout: 30,
  // Not in this process, whose probes would wait for it.
  workers: 1,
});
await pause(2_000);
const during: Answer[] = [];
for (const end = Date.now() + (overloadSeconds - 3) * 1000; Date.now() < end; ) during.push(...(await probe(world)));
const flood = await overload;

const ended = Date.now();
let recovered: number | null = null;
while (recovered === null && Date.now() - ended < 4 * recoveryLimitSeconds * 1000) {
  const answers = await probe(world);
  if (answers.every(({ isExpected }) => isExpected) && longestOf(answers) < Math.max(200, 2 * before))
    recovered = (Date.now() - ended) / 1000;
}

const failed = during.filter(({ isExpected }) => !isExpected).length;
console.log(`capacity: ${capacity.toFixed(0)} pages a second; probes and reads ${before.toFixed(0)} ms`);
console.log(
  `at twice that for ${overloadSeconds} s: ${flood['2xx']} pages, ${flood.non2xx} refused, ${flood.errors} errors, longest ${flood.latency.max} ms`,
);
for (const { path } of probeRequests(world)) console.log(describe(path, during));
console.log(`recovered after ${recovered === null ? 'more than 20' : recovered.toFixed(1)} s`);
await world.close();
process.exit(recovered !== null && recovered < recoveryLimitSeconds && failed === 0 ? 0 : 1);
