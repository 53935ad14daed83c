import { once } from 'node:events';
import net from 'node:net';
import postgres, { type Sql } from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';

// Each test fails without the hunk of patches/postgres@*.patch that names the same faults of the driver. Two more are
// tested by lost-database.db.test.ts (#1174, #1208) and watch-connections.db.test.ts (#1089, #1192). Of the growing array and
// of what was not sent no report is known upstream.

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let admin: Sql;
let sql: Sql;
let sockets: net.Socket[];
const opened: Sql[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  admin = open().sql;
  await admin`create table marks (id int)`;
});

beforeEach(async () => {
  await admin`truncate marks`;
  ({ sql, sockets } = open());
});

afterEach(() => vi.restoreAllMocks());

afterAll(async () => {
  for (const each of opened) await each.end({ timeout: 0 });
  await database.drop();
});

/** Opens a client of one connection, unless `options` say otherwise, with the sockets that it has opened. */
function open(options: postgres.Options<Record<string, never>> = {}): { sql: Sql; sockets: net.Socket[] } {
  const url = new URL(database.url);
  const folder = url.searchParams.get('host');
  url.searchParams.delete('host');
  const own: net.Socket[] = [];
  const client = postgres(url.href, {
    max: 1,
    onnotice: () => {},
    backoff: () => 0,
    // The driver's types do not declare it.
    socket: async () => {
      const socket =
        folder === null
          ? net.connect(Number(url.port || 5432), url.hostname)
          : net.connect(`${folder}/.s.PGSQL.${url.port || 5432}`);
      own.push(socket);
      await once(socket, 'connect');
      return socket;
    },
    ...options,
  } as postgres.Options<Record<string, never>>);
  opened.push(client);
  return { sql: client, sockets: own };
}

const marks = () => admin`select id from marks order by id`.then((rows) => rows.map(({ id }) => id));

it('the array of waiting statements stays dense with more callers than connections', async () => {
  const { sql } = open({ max: 4 });
  await sql`select 1`;
  let longest = 0;
  vi.spyOn(Array.prototype, 'indexOf').mockImplementation(function (this: unknown[], wanted: unknown, from = 0) {
    longest = Math.max(longest, this.length);
    return this.findIndex((each, at) => at >= from && each === wanted);
  });
  const callers = Array.from({ length: 32 }, async () => {
    for (let query = 0; query < 100; query++) await sql`select ${query}::int`;
  });
  await Promise.all(callers);
  vi.restoreAllMocks();
  // 3,200 statements waited. The searched arrays are those of connections.
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThanOrEqual(12);
});

it('the queue keeps its order after any removal', async () => {
  type Entry = { id: number };
  const file = import.meta.resolve('postgres').replace('index.js', 'queue.js');
  const { default: Queue } = await import(file);
  const [first, second, third, fourth, absent] = [1, 2, 3, 4, 9].map((id): Entry => ({ id }));
  const queue = Queue([first, second]);
  queue.push(third);
  expect(queue.shift()).toBe(first);
  queue.push(fourth);
  expect([queue.remove(third), queue.remove(absent), queue.remove(first)]).toEqual([third, null, null]);
  expect([queue.first, queue.length]).toEqual([second, 2]);
  expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([second, fourth, undefined]);
  expect(queue.length).toBe(0);
});

it.each([0, 2])(
  'a transaction that begins as the last statement of a pipeline of %i has a connection (#1210)',
  async (max_pipeline) => {
    const { sql } = open({ max_pipeline } as object);
    const [, , begun] = await Promise.all([
      sql`select pg_sleep(0.1)`,
      sql`select 1`,
      sql.begin((tx) => tx`select 2 as two`),
    ]);
    expect(begun).toEqual([{ two: 2 }]);
  },
);

it('a socket that drains late gives no open transaction to another statement (#1204)', async () => {
  let other: Promise<unknown> | undefined;
  const failed = sql.begin(async (tx) => {
    await tx`insert into marks values (1)`;
    other = sql`insert into marks values (2)`.execute();
    sockets[0]?.emit('drain');
    await tx`select 1`;
    throw new Error('rolled back');
  });
  await expect(failed).rejects.toThrow('rolled back');
  await other;
  expect(await marks()).toEqual([2]);
});

it('a statement on a reserved connection whose server has gone rejects, and the process lives (#1154, #1208)', async () => {
  const reserved = await sql.reserve();
  const [own] = await reserved`select pg_backend_pid() as pid`;
  const closed = once(sockets[0] as net.Socket, 'close');
  await admin`select pg_terminate_backend(${own?.pid})`;
  await closed;
  await expect(reserved`select 1`).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
});

it('a statement that was not sent when its socket closed is not sent on the next one', async () => {
  await sql`select 1`;
  sockets[0]?.destroy();
  // Node closes the socket at the end of this turn. The driver writes in the next one.
  await new Promise((go) => setImmediate(go));
  const unsent = sql`insert into marks values (1)`.execute();
  await expect(unsent).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
  expect(await marks()).toEqual([]);
  // Nor did the server refuse the next one for it.
  expect(sockets).toHaveLength(2);
});

it('the first statement of a new session does not fail with the error that ended the last one (#1249, #1223)', async () => {
  const [own] = await sql`select pg_backend_pid() as pid`;
  const closed = once(sockets[0] as net.Socket, 'close');
  await admin`select pg_terminate_backend(${own?.pid})`;
  await closed;
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
});

it.each([
  ['at once', () => {}],
  ['once it is closed', () => once(sockets[0] as net.Socket, 'close')],
])('a client whose connection failed under a statement ends %s (#1097, #1130)', async (_, wait) => {
  await sql`select 1`;
  const cut = sql`select pg_sleep(5)`.execute();
  setImmediate(() => sockets[0]?.destroy(new Error('cut')));
  await expect(cut).rejects.toThrow('cut');
  await wait();
  await sql.end();
});

it('the rollback of a transaction whose socket failed takes no answer of the next statement', async () => {
  const failed = sql.begin(async (tx) => {
    await tx`insert into marks values (1)`;
    const cut = tx`select pg_sleep(5)`.execute();
    setImmediate(() => sockets[0]?.destroy(new Error('cut')));
    await cut;
  });
  await expect(failed).rejects.toThrow();
  expect(await sql`select 7 as seven`).toEqual([{ seven: 7 }]);
  expect(await marks()).toEqual([]);
});
