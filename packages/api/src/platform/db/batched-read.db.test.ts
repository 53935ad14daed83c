import { DrizzleQueryError, eq, type SQL, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { batchedRead } from './batched-read.ts';
import { type Connection, type Executor, openDatabase } from './client.ts';
import { paymentSettings } from './schema/billing.ts';

/** Each name, once and as often as `copies` says. */
function select(db: Executor, name: SQL) {
  return db
    .select({ name: paymentSettings.name, copy: sql<number>`copy` })
    .from(paymentSettings)
    .innerJoin(sql`(values (1), (2)) as copies (copy)`, sql`copy <= ${sql.placeholder('copies')}::integer`)
    .where(eq(paymentSettings.name, name));
}

const read = batchedRead((db, name) => select(db, name).prepare('batched'));
const failing = batchedRead((db, name) =>
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
  const copies = 1;
  const together = names.slice(0, 20).map((name) => read(db).execute(name, { copies }));
  await new Promise((go) => setImmediate(go));
  const later = read(db).execute('name 0', { copies });
  await Promise.all([...together, later]);
  expect(sent).toHaveLength(4);
});

test.each([true, false])(
  'each read gets the rows of its own key, in a batch of any size (prepare: %s)',
  async (prepare) => {
    const { db } = open({ pool: 3, prepare });
    const key = fc.constantFrom(...names, 'unknown', '', "'); drop table users; --");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(key, { maxLength: 20 }), { maxLength: 4 }), async (turns) => {
        const copies = 2;
        const reads: Promise<void>[] = [];
        for (const turn of turns) {
          for (const name of turn) {
            const wanted = names.includes(name) ? [1, 2].map((copy) => ({ name, copy })) : [];
            reads.push(
              read(db)
                .execute(name, { copies })
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
  const first = read(reader.db).execute('name 1', { copies: 1 });
  await writer.db.delete(paymentSettings).where(eq(paymentSettings.name, 'ends'));
  expect(await read(reader.db).execute('ends', { copies: 1 })).toEqual([]);
  expect(await first).toHaveLength(1);
});

test('in a transaction it reads the rows of the transaction', async () => {
  const { db } = open({ pool: 2, prepare: true });
  await db.transaction(async (tx) => {
    await tx.insert(paymentSettings).values({ name: 'uncommitted', value: '' } as never);
    const [inside, outside] = await Promise.all(
      [tx, db].map((each) => read(each).execute('uncommitted', { copies: 1 })),
    );
    expect([inside, outside]).toEqual([[{ name: 'uncommitted', copy: 1 }], []]);
    await tx.delete(paymentSettings).where(eq(paymentSettings.name, 'uncommitted'));
  });
});

test('a failure rejects every read of its statement, and no later one', async () => {
  const { db } = open({ pool: 2, prepare: true });
  const reads = await Promise.allSettled(names.slice(0, 3).map((name) => failing(db).execute(name, {})));
  for (const each of reads) expect(each).toMatchObject({ status: 'rejected', reason: expect.any(DrizzleQueryError) });
  expect(await read(db).execute('name 2', { copies: 1 })).toEqual([{ name: 'name 2', copy: 1 }]);
});

test('PostgreSQL keeps one plan, however many reads share the statement', async () => {
  const { db, sql: client } = open({ pool: 1, prepare: true });
  for (let number = 0; number < 30; number++) {
    await Promise.all(names.slice(0, 2 + (number % 7)).map((name) => read(db).execute(name, { copies: 1 })));
  }
  const [plans] = await client`
    select generic_plans::int as kept, custom_plans::int as planned from pg_prepared_statements
    where statement like 'select found.*%'`;
  expect(plans).toEqual({ kept: 25, planned: 5 });
});
