// Compares the driver's CPU per query after 300,000 queries with that at the start, with more callers than
// connections all the time. Unpatched, postgres.js searches an array that grows with every query.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import postgres from 'postgres';

const queries = 300_000;
const warmUp = 30_000;
const slices = 15;
const callers = 64;
const connections = 8;
const allowedRatio = 1.2;

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
const database = await openEmbedded(dataDir, { settings: { fsync: 'off' } });
const sql = postgres('postgres://gatehouse@localhost/gatehouse', {
  host: new URL(database.url).searchParams.get('host') ?? '',
  max: connections,
});

try {
  // The callers never pause, so that the pool is always busy.
  const costs = await microsecondsPerQuery();
  const first = median(costs.slice(0, 3));
  const last = median(costs.slice(-3));
  const ratio = last / first;
  console.log(`first ${first.toFixed(1)} µs, last ${last.toFixed(1)} µs of CPU a query, over ${queries} queries`);
  console.log(`ratio ${ratio.toFixed(2)} (at most ${allowedRatio})`);
  process.exitCode = ratio <= allowedRatio ? 0 : 1;
} finally {
  await sql.end();
  await database.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
}

/** Returns the CPU time of this process for each slice of queries: elapsed time would include other work of the machine. */
async function microsecondsPerQuery(): Promise<number[]> {
  const slice = queries / slices;
  const costs: number[] = [];
  let sent = 0;
  let answered = -warmUp;
  let usage = process.cpuUsage();

  async function caller() {
    while (sent < queries + warmUp) {
      sent++;
      await sql`select ${sent}::int`;
      answered++;
      if (answered < 0 || answered % slice !== 0) continue;

      const { user, system } = process.cpuUsage(usage);
      if (answered > 0) costs.push((user + system) / slice);
      usage = process.cpuUsage();
    }
  }
  await Promise.all(Array.from({ length: callers }, caller));
  return costs;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
