import { DrizzleQueryError, eq, type SQL, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { batchedRead } from './batched-read.ts';
import { type Connection, type Executor, openDatabase } from './client.ts';
import { paymentSettings } from './schema/billing.ts';

/** Each name, twice, with the number of the copy times a factor. */
function select(db: Executor, name: SQL, factor: SQL) {
  return db
    .select({ name: paymentSettings.name, copy: sql<number>`copy * ${factor}::int` })
    .from(paymentSettings)
    .innerJoin(sql`(values (1), (2)) as copies (copy)`, sql`true`)
    .where(eq(paymentSettings.name, name));
}

const readTimes = batchedRead(['name', 'factor'], (db, { name, factor }) =>
  select(db, name, factor).prepare('batched'),
);
const read = (db: Executor) => ({ execute: (name: string) => readTimes(db).execute({ name, factor: '1' }) });
const failing = batchedRead(['name'], (db, { name }) =>
  db
    .select({ quotient: sql<number>`1 / 0` })
    .from(paymentSettings)
    .where(eq(paymentSettings.name, name))
    .prepare('failing'),
);

const names = Array.from({ length: 30 }, (_, number) => `name ${number}`);
let database: Awaited<ReturnType<typeof createTestDatabase>>;
const connections: Connection[] = [];
let sent: string[] = [];

function open(options: { pool: number; prepare: boolean }): Connection {
  const connection = openDatabase({
    url: database.url,
    ...options,
    watch: (client) =>
      new Proxy(client, {
        get(target, name) {
          const value = Reflect.get(target, name);
          if (name !== 'unsafe') return value;
          return (...args: Parameters<typeof target.unsafe>) => {
            sent.push(args[0]);
            return target.unsafe(...args);
          };
        },
      }),
  });
  connections.push(connection);
  return connection;
}

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = open({ pool: 1, prepare: true });
  await db.insert(paymentSettings).values(names.map((name) => ({ name, value: '' }) as never));
});

beforeEach(() => {
  sent = [];
});

afterAll(async () => {
  for (const { close } of connections) await close();
  await database.drop();
});

test('reads of one turn share a statement for every eight, and those of the next turn get their own', async () => {
  const { db } = open({ pool: 4, prepare: true });
  const together = names.slice(0, 20).map((name) => read(db).execute(name));
  await new Promise((go) => setImmediate(go));
  const later = read(db).execute('name 0');
  await Promise.all([...together, later]);
  expect(sent).toHaveLength(4);
});

test.each([true, false])(
  'each read gets the rows of its own key, in a batch of any size (prepare: %s)',
  async (prepare) => {
    const { db } = open({ pool: 3, prepare });
    const name = fc.constantFrom(...names, 'unknown', '', "'); drop table users; --");
    const key = fc.record({ name, factor: fc.integer({ min: 0, max: 9 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(key, { maxLength: 20 }), { maxLength: 4 }), async (turns) => {
        const reads: Promise<void>[] = [];
        for (const turn of turns) {
          for (const { name, factor } of turn) {
            const wanted = names.includes(name) ? [1, 2].map((copy) => ({ name, copy: copy * factor })) : [];
            reads.push(
              readTimes(db)
                .execute({ name, factor: String(factor) })
                .then((rows) => expect(rows).toEqual(wanted)),
            );
          }
          await new Promise((go) => setImmediate(go));
        }
        await Promise.all(reads);
      }),
      { numRuns: 40 },
    );
  },
);

test('a read sees what was committed before it began, also in a batch that an earlier read began', async () => {
  const [reader, writer] = [open({ pool: 2, prepare: true }), open({ pool: 1, prepare: true })];
  await writer.db.insert(paymentSettings).values({ name: 'ends', value: '' } as never);
  const first = read(reader.db).execute('name 1');
  await writer.db.delete(paymentSettings).where(eq(paymentSettings.name, 'ends'));
  expect(await read(reader.db).execute('ends')).toEqual([]);
  expect(await first).toHaveLength(2);
});

test('in a transaction it reads the rows of the transaction', async () => {
  const { db } = open({ pool: 2, prepare: true });
  await db.transaction(async (tx) => {
    await tx.insert(paymentSettings).values({ name: 'uncommitted', value: '' } as never);
    const [inside, outside] = await Promise.all([tx, db].map((each) => read(each).execute('uncommitted')));
    expect([inside, outside]).toEqual([[1, 2].map((copy) => ({ name: 'uncommitted', copy })), []]);
    await tx.delete(paymentSettings).where(eq(paymentSettings.name, 'uncommitted'));
  });
});

test('a failure rejects every read of its statement, and no later one', async () => {
  const { db } = open({ pool: 2, prepare: true });
  const reads = await Promise.allSettled(names.slice(0, 3).map((name) => failing(db).execute({ name })));
  for (const each of reads) expect(each).toMatchObject({ status: 'rejected', reason: expect.any(DrizzleQueryError) });
  expect(await read(db).execute('name 2')).toEqual([1, 2].map((copy) => ({ name: 'name 2', copy })));
});
