import { eq, like, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { type Connection, openDatabase } from './client.ts';
import { deleteInSteps } from './in-steps.ts';
import { paymentSettings } from './schema/billing.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let connection: Connection;
beforeAll(async () => {
  database = await createTestDatabase();
  connection = openDatabase({ url: database.url, pool: 3, prepare: true });
});
afterAll(async () => {
  await connection.close();
  await database.drop();
});

async function insert(prefix: string, rows: number) {
  await connection.db.execute(sql`
    insert into payment_settings (name, value) select ${`${prefix} `}::text || n, 'x' from generate_series(1, ${rows}::int) as n`);
  return like(paymentSettings.name, `${prefix} %`);
}

test('deletes more rows than one step takes, and no others', async () => {
  const [old, kept] = [await insert('old', 11_000), await insert('kept', 10)];
  expect(await deleteInSteps(connection.db, paymentSettings, old)).toBe(11_000);
  expect(await connection.db.$count(paymentSettings, old)).toBe(0);
  expect(await connection.db.$count(paymentSettings, kept)).toBe(10);
});

test('waits for no transaction that holds a row, and leaves that row to the next run', async () => {
  const { db } = connection;
  const held = await insert('held', 100);
  await db.transaction(async (tx) => {
    await tx.update(paymentSettings).set({ value: 'y' }).where(eq(paymentSettings.name, 'held 50'));
    expect(await deleteInSteps(db, paymentSettings, held)).toBe(99);
  });
  expect(await deleteInSteps(db, paymentSettings, held)).toBe(1);
});

test('no reader waits for a deletion under way', async () => {
  const { db } = connection;
  const read = await insert('read', 100);
  await db.transaction(async (tx) => {
    expect(await deleteInSteps(tx, paymentSettings, read)).toBe(100);
    expect(await db.$count(paymentSettings, read)).toBe(100);
  });
  expect(await db.$count(paymentSettings, read)).toBe(0);
});
