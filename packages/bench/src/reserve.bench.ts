import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';

// Compares usage.reserve with one bare UPDATE … RETURNING of the same pool: on one organisation that all
// callers share, and over 10,000. The two take turns, so that both see the same load of the machine.

const organisations = 10_000;
const callers = 20;
const rounds = 6;
const roundMilliseconds = 2000;
const wantedRatio = 0.5;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
const database = await openEmbedded(folder, { createDatabases: true });
process.env.TEST_DATABASE_URL = database.url;
const { startTestApp } = await import('@gatehouse/api/testing/app');
const { reserve } = await import('@gatehouse/api/billing/usage/reserve');

const test = await startTestApp({ work: false });
const { app } = test;
await app.sql`
  insert into organisations (id, slug, approval, created_at)
  select gen_random_uuid(), 'o-' || n, 'approved', now() from generate_series(1, ${organisations}) as n`;
const ids = (await app.sql`select id from organisations`).map(({ id }) => String(id));
const [hot = ''] = ids;
await app.sql`create table bare (id uuid primary key, used bigint not null) with (fillfactor = 50)`;
await app.sql`insert into bare select id, 0 from organisations`;
const [free, ...paid] = app.plans.tiers;
app.plans = { ...app.plans, tiers: [{ ...free, limits: { ...free.limits, api_calls: null } }, ...paid] as never };

try {
  let enough = true;
  for (const [name, pick] of [
    ['one organisation', () => hot],
    [`${organisations} organisations`, () => ids[Math.floor(Math.random() * ids.length)] ?? hot],
  ] as const) {
    const ratio = await compare(name, pick);
    enough &&= ratio >= wantedRatio;
  }
  process.exitCode = enough ? 0 : 1;
} finally {
  await test.close();
  await database.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}

async function compare(name: string, pick: () => string): Promise<number> {
  const bare = () => app.sql`update bare set used = used + 1 where id = ${pick()} returning used`;
  const reservation = () => {
    const request = { meter: 'api_calls', amount: 1, idempotency_key: randomUUID() };
    // The authorisation of a request reads the plan's facts in its own query.
    return reserve(app, { organisationId: pick(), planFacts: null }, request);
  };
  const ratios: number[] = [];
  const totals = { bare: 0, reserve: 0 };
  for (let round = 0; round <= rounds; round++) {
    const [least, service] = [await perSecond(bare), await perSecond(reservation)];
    // The first round fills caches.
    if (round === 0) continue;
    ratios.push(service / least);
    totals.bare += least / rounds;
    totals.reserve += service / rounds;
  }
  const ratio = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 0;
  console.log(`${name}: UPDATE ${totals.bare.toFixed(0)}/s, reserve ${totals.reserve.toFixed(0)}/s`);
  console.log(`ratio ${ratio.toFixed(2)} (at least ${wantedRatio})`);
  return ratio;
}

async function perSecond(act: () => PromiseLike<unknown>): Promise<number> {
  const end = performance.now() + roundMilliseconds;
  let done = 0;
  async function caller() {
    while (performance.now() < end) {
      await act();
      done += 1;
    }
  }
  await Promise.all(Array.from({ length: callers }, caller));
  return done / (roundMilliseconds / 1000);
}
