import { setTimeout as pause } from 'node:timers/promises';
import autocannon from 'autocannon';
import { openWorld, type World } from './faults/world.ts';

// Measures how many pages a second the nodes can render, then sends twice that rate for some seconds. Measures how
// long the answers to probes, webhooks and signed-in reads take during this overload, and until when afterwards.
// BENCH_SECONDS is the length of the overload.

const capacitySeconds = 5;
const overloadSeconds = Number(process.env.BENCH_SECONDS ?? 10);
const recoveryLimitSeconds = 5;

const world = await openWorld();
// With this query the page is rendered. Without it the nodes answer from memory, faster than HAProxy and the sender of
// the load can bear on the same machine.
const url = `${world.origin}/login?rendered`;
const alone = await autocannon({ url, connections: 20, duration: capacitySeconds });
const capacity = alone.requests.average;
const before = await probe(world);

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
const during = [];
for (const end = Date.now() + (overloadSeconds - 3) * 1000; Date.now() < end; ) during.push(await probe(world));
const flood = await overload;

const ended = Date.now();
let recovered: number | null = null;
while (recovered === null && Date.now() - ended < 4 * recoveryLimitSeconds * 1000) {
  const { longest, failed } = await probe(world);
  if (failed === 0 && longest < Math.max(200, 2 * before.longest)) recovered = (Date.now() - ended) / 1000;
}

const longest = Math.max(...during.map((each) => each.longest));
const failed = during.reduce((sum, each) => sum + each.failed, 0);
console.log(`capacity: ${capacity.toFixed(0)} pages a second; probes and reads ${before.longest.toFixed(0)} ms`);
console.log(
  `at twice that for ${overloadSeconds} s: ${flood['2xx']} pages, ${flood.non2xx} refused, ${flood.errors} errors, longest ${flood.latency.max} ms`,
);
console.log(`meanwhile probes, events and signed-in reads: ${failed} failed, longest ${longest.toFixed(0)} ms`);
console.log(`recovered after ${recovered === null ? 'more than 20' : recovered.toFixed(1)} s`);
await world.close();
process.exit(recovered !== null && recovered < recoveryLimitSeconds && failed === 0 ? 0 : 1);

/** Sends the requests that an overload must not affect. Returns the longest time in milliseconds, and how many failed. */
async function probe({ origin, owners }: World): Promise<{ longest: number; failed: number }> {
  const cookie = `session=${owners[0]?.session}`;
  const asked: [path: string, status: number, init: RequestInit][] = [
    ['/healthz', 200, {}],
    ['/readyz', 200, {}],
    ['/api/session', 200, { headers: { cookie } }],
    ['/webhooks/payment', 400, { method: 'POST', body: '{}' }],
  ];
  const answers = await Promise.all(
    asked.map(async ([path, status, init]) => {
      const started = performance.now();
      const response = await fetch(origin + path, init).catch(() => null);
      await response?.arrayBuffer();
      return { isRight: response?.status === status, milliseconds: performance.now() - started };
    }),
  );
  return {
    longest: Math.max(...answers.map(({ milliseconds }) => milliseconds)),
    failed: answers.filter(({ isRight }) => !isRight).length,
  };
}
