import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';

// Measures how long a user waits for a sign-in while one IPv6 /48 floods the queue of password hashes from
// many of its /64s, without rate limits: at any time there are more sign-ins than the queue holds.

const floodsAtOnce = 400;
const signIns = 40;
const limitMilliseconds = 1000;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
const database = await openEmbedded(folder, { settings: { fsync: 'off' }, createDatabases: true });
process.env.TEST_DATABASE_URL = database.url;
const { startTestApp } = await import('@gatehouse/api/testing/app');
const { callerFor, makeOwner, newEmail, testPassword } = await import('@gatehouse/api/testing/factories');
const { hashesWaiting } = await import('@gatehouse/api/platform/security/password');

const test = await startTestApp({ work: true });
const { email } = await makeOwner(test);
const unloaded = await measure();
let flooding = true;
let refused = 0;
const flood = Array.from({ length: floodsAtOnce }, (_, n) => floodFrom(`2001:db8:1:${n.toString(16)}::1`));
while (hashesWaiting() < 100) await pause(10);
const flooded = await measure();
flooding = false;
await Promise.all(flood);

console.log(`alone         median ${unloaded.median.toFixed(0)} ms, longest ${unloaded.longest.toFixed(0)} ms`);
console.log(`under a flood median ${flooded.median.toFixed(0)} ms, longest ${flooded.longest.toFixed(0)} ms`);
console.log(`refused from the /48: ${refused}`);
console.log(
  `ratio of the longest to the limit of ${limitMilliseconds} ms: ${(flooded.longest / limitMilliseconds).toFixed(2)}`,
);

process.exitCode = flooded.longest <= limitMilliseconds ? 0 : 1;

await test.close();
await database.stop();
fs.rmSync(folder, { recursive: true, force: true });

async function measure(): Promise<{ median: number; longest: number }> {
  const times: number[] = [];
  for (let count = 0; count < signIns; count++) {
    const started = performance.now();
    await callerFor(test, null, { client: '192.0.2.1' }).signIn.withPassword({ email, password: testPassword });
    times.push(performance.now() - started);
  }
  times.sort((one, other) => one - other);
  return { median: times[Math.floor(times.length / 2)] ?? 0, longest: times.at(-1) ?? 0 };
}

async function floodFrom(client: string): Promise<void> {
  const { signIn } = callerFor(test, null, { client });
  while (flooding) {
    await signIn.withPassword({ email: newEmail(), password: 'not the pass phrase' }).catch((error) => {
      if (error.code === 'SERVICE_UNAVAILABLE') refused += 1;
    });
    await pause(100);
  }
}
