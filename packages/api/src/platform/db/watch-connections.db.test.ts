import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startAwakeClock } from '../../testing/awake-clock.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { startTcpProxy, type TcpProxy } from '../../testing/database/tcp-proxy.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { isDatabaseUnavailable, toAppError } from '../errors.ts';
import { type Connection, openDatabase } from './client.ts';

const deadlines = { statementSeconds: 1, transactionSeconds: 3, queueSeconds: 1.5 };
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let proxy: TcpProxy;
let connection: Connection;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.url);
  connection = openDatabase({
    url: proxy.url(database.url),
    pool: 3,
    prepare: true,
    deadlines,
  });
  await connection.sql`create table marks (id int primary key)`;
});
afterEach(() => proxy.restore());
afterAll(async () => {
  await connection.close();
  await proxy.close();
  await database.drop();
});

/** Resolves with the error of a promise, the milliseconds until it, and in how many of these the process ran. */
async function failureOf(work: Promise<unknown>): Promise<{ error: unknown; milliseconds: number; awake: number }> {
  const started = performance.now();
  const awake = startAwakeClock();
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, milliseconds: performance.now() - started, awake: awake() };
}

const statement = () => connection.sql`select 1 as one`;

it('statements on connections that were cut silently fail at the deadline, and the next ones succeed', async () => {
  await Promise.all([statement(), statement(), statement()]);
  proxy.cut();
  const answers = await Promise.all([statement(), statement(), statement()].map(failureOf));
  for (const { error, awake } of answers) {
    expect(isDatabaseUnavailable(error), String(error)).toBe(true);
    // Without the deadline they would wait for the TCP connection, which ends after minutes.
    expect(awake).toBeLessThan(deadlines.statementSeconds * 1000 + 15_000);
  }

  proxy.restore();
  expect(await Promise.all([statement(), statement(), statement()])).toHaveLength(3);
});

it('one cut connection is replaced, and those that were idle with it are not used again', async () => {
  // Two of them answer just before the cut, and the next statement is sent on the one that answered first.
  const slow = () => connection.sql`select pg_sleep(0.3)`;
  await Promise.all([statement(), slow(), slow()]);
  proxy.cutOldest(3);
  await failureOf(statement());
  const answers = await Promise.all([statement(), statement(), statement()].map(failureOf));
  expect(answers.map(({ error }) => error)).toEqual([null, null, null]);
});

it('a transaction on a cut connection fails and is not applied, and so does one that stays open', async () => {
  const cut = connection.sql.begin(async (tx) => {
    await tx`insert into marks values (1)`;
    proxy.cut();
    await tx`insert into marks values (2)`;
  });
  expect(isDatabaseUnavailable((await failureOf(cut)).error)).toBe(true);
  proxy.restore();

  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const endless = connection.sql.begin(async (tx) => {
    await tx`insert into marks values (3)`;
    await ended;
  });
  const { error } = await failureOf(endless);
  expect(isDatabaseUnavailable(error), String(error)).toBe(true);
  end();
  expect(await connection.sql`select id from marks`).toEqual([]);
});

it('a commit whose answer is lost fails as BUSY, and a retry finds it applied', async () => {
  proxy.cutAnswerTo('commit');
  const unanswered = connection.sql.begin((tx) => tx`insert into marks values (10) on conflict do nothing`);
  expect(toAppError((await failureOf(unanswered)).error)).toMatchObject({ code: 'BUSY', retryAfterSeconds: 5 });
  proxy.restore();
  // With time for a busy machine: the deadline of the others is shorter than a healthy transaction can take there.
  const patient = openDatabase({ url: database.url, pool: 1, prepare: true });
  const again = patient.sql.begin((tx) => tx`insert into marks values (10) on conflict do nothing`);
  expect((await failureOf(again)).error).toBeNull();
  await patient.close();
  expect(await connection.sql`select id from marks`).toEqual([{ id: 10 }]);
});

it.each([
  ['accepts connections and closes them, as a proxy without a server does', (socket: net.Socket) => socket.end()],
  ['accepts connections and says nothing', () => {}],
])('a statement fails after half the wait for a connection while the database %s', async (_, act) => {
  let attempts = 0;
  const server = net.createServer((socket) => {
    attempts += 1;
    socket.on('error', () => {});
    act(socket.resume());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as net.AddressInfo;
  const url = `postgres://gatehouse@127.0.0.1:${port}/gatehouse`;
  const away = openDatabase({
    url,
    pool: 1,
    prepare: true,
    deadlines: { statementSeconds: 8, transactionSeconds: 30, queueSeconds: 2 },
  });

  const { error, awake } = await failureOf(away.sql`select 1`);
  expect(isDatabaseUnavailable(error), String(error)).toBe(true);
  // Without the bound it is the five seconds of a connection attempt, or the eight of a statement and more.
  expect(awake).toBeLessThan(4_000);
  expect(attempts).toBeLessThan(20);
  await away.close();
  server.close();
});

it('a process that was paused for longer than a deadline ends no healthy connection', async () => {
  const { url } = database;
  const holder = openDatabase({ url, pool: 1, prepare: true });
  await holder.sql`select pg_advisory_lock(1)`;
  const patient = openDatabase({
    url,
    pool: 2,
    prepare: true,
    deadlines: { statementSeconds: 3, transactionSeconds: 3, queueSeconds: 3 },
  });
  const committed = patient.sql.begin((tx) => tx`select pg_advisory_xact_lock_shared(1)`);
  const answer = patient.sql`select pg_advisory_lock_shared(1)`;
  const outcomes = Promise.all([failureOf(answer), failureOf(committed)]);
  await waitingForLocks({ app: { db: holder.db } }, 2);
  // The watch counts the wait from the second time on that it runs.
  await pause(600);
  // Nothing of the process runs meanwhile, as while a machine is suspended. The watch runs before the pause ends.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000);
  await pause(1);
  await holder.sql`select pg_advisory_unlock(1)`;
  expect((await outcomes).map(({ error }) => error)).toEqual([null, null]);
  await Promise.all([patient.close(), holder.close()]);
});

it('a request that waits too long for a connection gets BUSY with Retry-After, and the open transactions finish', async () => {
  // Only the wait for a connection is short: the transactions have time for a busy machine.
  const short = { statementSeconds: 30, transactionSeconds: 60, queueSeconds: 4 };
  const { sql, close } = openDatabase({ url: database.url, pool: 3, prepare: true, deadlines: short });
  await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.1)`));
  let isRefused = false;
  let begun = 0;
  const held = Array.from({ length: 3 }, () =>
    sql.begin(async (tx) => {
      begun += 1;
      while (!isRefused) await tx`select pg_sleep(0.2)`;
    }),
  );
  await expect.poll(() => begun).toBe(3);
  const { error } = await failureOf(sql.begin((tx) => tx`select 1`));
  expect(toAppError(error)).toMatchObject({ code: 'BUSY', retryAfterSeconds: 5 });
  isRefused = true;
  await Promise.all(held);
  await close();
});

it('a new connection that is cut while the driver reads the types of arrays does not end the process', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const fresh = openDatabase({ url: proxy.url(database.url), pool: 1, prepare: true, deadlines });
  proxy.cutAnswerTo('typarray');

  const { error } = await failureOf(fresh.sql`select 1`);
  expect(isDatabaseUnavailable(error), String(error)).toBe(true);
  proxy.restore();
  expect(await fresh.sql`select ${['one', 'two']}::text[] as words`).toEqual([{ words: ['one', 'two'] }]);
  process.off('unhandledRejection', note);
  await fresh.close();
  expect(unhandled).toEqual([]);
});

it('a request waits half as long for a connection while the database is silent, but not while it answers others', async () => {
  const url = proxy.url(database.url);
  const one = openDatabase({
    url,
    pool: 1,
    prepare: true,
    deadlines: { statementSeconds: 8, transactionSeconds: 30, queueSeconds: 6 },
  });
  const busy = one.sql.begin(async (tx) => {
    const awake = startAwakeClock();
    while (awake() < 3_500) await tx`select pg_sleep(0.5)`;
  });
  // It waits for 3.5 of six seconds.
  expect(await one.sql`select 1 as one`).toEqual([{ one: 1 }]);
  await busy;

  const held = one.sql
    .begin(async (tx) => {
      proxy.cut();
      await tx`select 1`;
    })
    .catch((error: unknown) => error);
  const { error, milliseconds, awake } = await failureOf(one.sql.begin((tx) => tx`select 2`));
  expect(toAppError(error)).toMatchObject({ code: 'BUSY' });
  expect(milliseconds).toBeGreaterThan(2_700);
  expect(awake).toBeLessThan(5_800);
  expect(isDatabaseUnavailable(await held)).toBe(true);
  await one.close();
});

it('a clock that is set back by an hour while a statement waits delays no deadline', async () => {
  const one = openDatabase({ url: proxy.url(database.url), pool: 1, prepare: true, deadlines });
  await one.sql`select 1`;
  proxy.cut();
  const cut = failureOf(one.sql`select 1`);
  await pause(600);
  const now = Date.now.bind(Date);
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
  const failed = await Promise.race([cut, pause(60_000, undefined, { ref: false })]);
  clock.mockRestore();
  expect(isDatabaseUnavailable(failed?.error), String(failed?.error)).toBe(true);
  await one.sql.end({ timeout: 0 });
});
