import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { deleteExpired } from '@gatehouse/api/auth/delete-expired';
import { decideAllPlans } from '@gatehouse/api/billing/entitlement/decide-plan';
import { createApp } from '@gatehouse/api/create-app';
import { eraseUser } from '@gatehouse/api/members/leaving/erase-user';
import { parseConfig } from '@gatehouse/api/platform/config';
import { openDatabase } from '@gatehouse/api/platform/db/client';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { makeData, sessionTokens } from './size/make-data.ts';
import { type Program, startProgram } from './speed/program.ts';
import { spread } from './speed/spread.ts';

// Reads every page and endpoint of lists on a small and on a large database, and prints how many times
// longer the large one takes; then what deletes one user, and what goes over all rows. SIZE=100000 makes the large one
// smaller.

const serviceFile = path.resolve(import.meta.dirname, '../../../apps/server/dist/main.js');
const sizes = [1000, Number(process.env.SIZE ?? 1_000_000)];
const requestsPerPage = 21;
const wantedRatio = 1.5;
/** A few milliseconds of difference are noise, whatever their ratio. */
const wantedMilliseconds = 5;

type Reader = keyof typeof sessionTokens;
/** Every page of a list, with searches that find something and searches that find nothing. */
const pages: [path: string, reader: Reader][] = [
  ['/', 'owner'],
  ['/account', 'owner'],
  ['/account/security', 'owner'],
  ['/billing', 'owner'],
  ['/members', 'owner'],
  ['/api/session', 'owner'],
  ['/api/subscription', 'owner'],
  ['/operator', 'operator'],
  ['/operator?search=company-1%40', 'operator'],
  ['/operator?search=nothing-like-this', 'operator'],
  ['/operator/decided', 'operator'],
  ['/operator/people', 'operator'],
  ['/operator/people?search=person-777%40', 'operator'],
  ['/operator/people?search=Person+c4ca4238a0b923', 'operator'],
  ['/operator/people?search=nothing-like-this', 'operator'],
  ['/operator/people?search=zq', 'operator'],
  ['/operator/organisations', 'operator'],
  ['/operator/organisations?search=company-777', 'operator'],
  ['/operator/organisations?search=nothing-like-this', 'operator'],
  ['/operator/organisations?search=zq', 'operator'],
  ['/operator/events', 'operator'],
  ['/operator/events?search=cus_77', 'operator'],
  ['/operator/events?search=company-777', 'operator'],
  ['/operator/events?search=nothing-like-this', 'operator'],
  ['/operator/events?flagged=true', 'operator'],
  ['/operator/events/drift', 'operator'],
];

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
const database = await openEmbedded(folder, { settings: { fsync: 'off', max_wal_size: '4GB' }, createDatabases: true });
const tables: Map<string, number>[] = [];
const work: string[] = [];
try {
  for (const size of sizes) tables.push(await measureAt(size));
} finally {
  await database.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}

const [small, large] = tables;
console.log(`| Path | ${sizes.map((size) => size.toLocaleString('en-GB')).join(' | ')} | ratio |\n|---|---|---|---|`);
let isSound = true;
for (const [page, milliseconds] of large ?? []) {
  const before = small?.get(page) ?? Number.NaN;
  const ratio = milliseconds / before;
  isSound &&= ratio <= wantedRatio || milliseconds - before <= wantedMilliseconds;
  console.log(`| ${page} | ${before.toFixed(1)} ms | ${milliseconds.toFixed(1)} ms | ${ratio.toFixed(2)} |`);
}
console.log(`\n${work.join('\n')}`);
process.exitCode = isSound ? 0 : 1;

/** Returns the median time of each path in milliseconds, on a database of this size. */
async function measureAt(size: number): Promise<Map<string, number>> {
  const name = `size_${size}`;
  const admin = openDatabase({ url: database.url, pool: 1, prepare: false });
  await admin.sql.unsafe(`create database ${name}`);
  await admin.close();
  const url = new URL(database.url);
  url.pathname = `/${name}`;

  const started = performance.now();
  let service = await startService(url.href);
  await service.stop();
  const { sql, close } = openDatabase({ url: url.href, pool: 1, prepare: false });
  await makeData(sql, size);
  await close();
  console.log(
    `${size.toLocaleString('en-GB')} rows of each kind in ${((performance.now() - started) / 1000).toFixed(0)} s`,
  );

  service = await startService(url.href);
  try {
    const times = new Map<string, number>();
    for (const [page, reader] of pages) {
      const { median, next } = await measure(service.origin, page, reader);
      times.set(page, median);
      if (next === null) continue;
      const second = await measure(service.origin, next, reader);
      times.set(`${page} (next page)`, second.median);
    }
    return times;
  } finally {
    await service.stop();
    if (size === sizes.at(-1)) work.push(...(await measureWork(url.href)));
  }
}

/** Returns a line with its time for each kind of work. */
async function measureWork(databaseUrl: string): Promise<string[]> {
  const config = parseConfig({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' });
  const app = await createApp({ config, work: true, schedules: false });
  const lines: string[] = [];
  const time = async (name: string, run: () => Promise<unknown>) => {
    const started = performance.now();
    await run();
    lines.push(`${name}: ${((performance.now() - started) / 1000).toFixed(2)} s`);
  };
  try {
    const users = await app.sql<{ id: string }[]>`select id from users where not operator order by id limit 20`;
    // They exist at no provider, so that what ends them is not part of the measurement.
    await app.sql`update payment_subscriptions set ended = true where organisation_id in
      (select organisation_id from memberships where user_id = any(${users.map(({ id }) => id)}))`;
    await time('20 users and their organisations deleted', async () => {
      for (const { id } of users) await eraseUser(app, { userId: id }, { actorId: null });
    });
    await time('the sweep with nothing to delete', () => deleteExpired(app));
    await app.sql`update sessions set expires_at = now() where ctid in (select ctid from sessions limit 10000)`;
    await time('the sweep with 10,000 expired sessions', () => deleteExpired(app));
    await time('every plan decided anew, for the first time', () => decideAllPlans(app));
    const changed = { ...app.config, pastDueGraceDays: app.config.pastDueGraceDays + 1 };
    await time('every plan decided anew, with other days of grace', () =>
      decideAllPlans(Object.assign(Object.create(app), { config: changed })),
    );
    return lines;
  } finally {
    await app.close();
  }
}

function startService(databaseUrl: string): Promise<Program> {
  const env = { GATEHOUSE_ENV_FILE: 'off', DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' };
  return startProgram(serviceFile, env, '/readyz');
}

/** Returns the median time in milliseconds, and the link to the next page of the list. */
async function measure(origin: string, page: string, reader: Reader) {
  const times: number[] = [];
  let text = '';
  for (let count = 0; count < requestsPerPage; count++) {
    const started = performance.now();
    const answer = await fetch(`${origin}${page}`, {
      headers: { cookie: `session=${sessionTokens[reader]}` },
      redirect: 'manual',
    });
    text = await answer.text();
    if (answer.status !== 200) throw new Error(`${page} answers ${answer.status}.`);
    times.push(performance.now() - started);
  }
  return { median: spread(times).median, next: nextPage(text) };
}

/** Returns the link to the next page of a list; null if the page has none. */
function nextPage(html: string): string | null {
  const [, href] = /<a[^>]*href="([^"]*[?&;](?:after|before)=[^"]*)"/.exec(html) ?? [];
  return href?.replaceAll('&amp;', '&') ?? null;
}
