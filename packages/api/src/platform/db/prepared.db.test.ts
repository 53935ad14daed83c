import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { type Connection, openDatabase, prepared } from './client.ts';
import { paymentSettings } from './schema/billing.ts';

const insert = prepared((db) =>
  db
    .insert(paymentSettings)
    .values({ name: sql.placeholder('name'), value: 'x' })
    .returning({ name: paymentSettings.name })
    .prepare('test_insert'),
);
const select = prepared((db) =>
  db
    .select({ name: paymentSettings.name })
    .from(paymentSettings)
    .where(eq(paymentSettings.name, sql.placeholder('name')))
    .prepare('test_select'),
);

let database: Awaited<ReturnType<typeof createTestDatabase>>;
const connections: Connection[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  for (const { close } of connections) await close();
  await database.drop();
});

test.each([true, false])('statements sent together run in their order (prepare: %s)', async (prepare) => {
  const connection = openDatabase({ url: database.url, pool: 4, prepare });
  connections.push(connection);

  async function insertAndRead(name: string) {
    const [inserted, before, read] = await connection.db.transaction((tx) =>
      Promise.all([insert(tx).execute({ name }), select(tx).execute({ name: 'other' }), select(tx).execute({ name })]),
    );
    expect([inserted, before, read]).toEqual([[{ name }], [], [{ name }]]);
  }
  await Promise.all(Array.from({ length: 200 }, (_, each) => insertAndRead(`${prepare} ${each}`)));
});

test('a statement of one database runs in the transaction of another', async () => {
  const other = openDatabase({ url: database.url, pool: 1, prepare: true });
  connections.push(other);
  const undone = other.db.transaction(async (tx) => {
    await insert(tx).execute({ name: 'undone' });
    expect(await select(tx).execute({ name: 'undone' })).toHaveLength(1);
    tx.rollback();
  });
  await expect(undone).rejects.toThrow();
  expect(await select(other.db).execute({ name: 'undone' })).toEqual([]);
});
