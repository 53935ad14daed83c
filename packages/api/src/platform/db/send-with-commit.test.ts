import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { type Connection, openDatabase, prepared } from './client.ts';
import { paymentSettings } from './schema/billing.ts';
import { transactSendingLast } from './send-with-commit.ts';

const insert = prepared((db) =>
  db
    .insert(paymentSettings)
    .values({ name: sql.placeholder('name'), value: sql.placeholder('value') })
    .prepare('test_insert_setting'),
);

let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe.each([true, false])('a transaction that sends its last statement with COMMIT (prepare: %s)', (prepare) => {
  let connection: Connection;
  beforeAll(() => {
    connection = openDatabase({ url: database.url, pool: 3, prepare });
  });
  afterAll(() => connection.close());

  const write = (name: string, values: [string | null, string | null]) =>
    transactSendingLast(connection.db, async (tx, sendLast) => {
      await insert(tx).execute({ name, value: values[0] });
      await sendLast(insert(tx).execute({ name: `${name} last`, value: values[1] }));
      return name;
    });
  const stored = async (name: string) =>
    connection.db.$count(paymentSettings, sql`${paymentSettings.name} in (${name}, ${`${name} last`})`);

  test('stores all of it, also many at once', async () => {
    const names = Array.from({ length: 100 }, (_, each) => `${prepare} ${each}`);
    expect(await Promise.all(names.map((name) => write(name, ['x', 'x'])))).toEqual(names);
    for (const name of names) expect(await stored(name)).toBe(2);
  });

  test.each([
    ['an earlier statement', [null, 'x']],
    ['the last statement', ['x', null]],
  ] as const)('stores nothing and rejects with the error of %s', async (which, [first, last]) => {
    const name = `${prepare} ${which}`;
    await expect(write(name, [first, last])).rejects.toThrow();
    expect(await stored(name)).toBe(0);
    await connection.db.delete(paymentSettings).where(eq(paymentSettings.name, name));
    expect(await write(name, ['x', 'x'])).toBe(name);
  });

  test('stores nothing if the last statement is not prepared at the server any more', async () => {
    const single = openDatabase({ url: database.url, pool: 1, prepare });
    const forgetting = async (name: string) =>
      transactSendingLast(single.db, async (tx, sendLast) => {
        await insert(tx).execute({ name, value: 'x' });
        await tx.execute(sql`deallocate all`);
        await sendLast(insert(tx).execute({ name: `${name} last`, value: 'x' }));
      });
    const name = `${prepare} forgotten`;
    if (prepare) {
      await expect(forgetting(name)).rejects.toThrow();
      expect(await stored(name)).toBe(0);
    }
    // The connection prepares the statement again.
    await insert(single.db).execute({ name, value: 'x' });
    await insert(single.db).execute({ name: `${name} last`, value: 'x' });
    expect(await stored(name)).toBe(2);
    await single.close();
  });

  test('stores nothing if the last statement fails before it is sent', async () => {
    const name = `${prepare} unsent`;
    const written = transactSendingLast(connection.db, async (tx, sendLast) => {
      await insert(tx).execute({ name, value: 'x' });
      // The placeholder has no value.
      await sendLast(insert(tx).execute({ name: `${name} last` }));
    });
    await expect(written).rejects.toThrow();
    expect(await stored(name)).toBe(0);
  });

  // Without prepared statements the driver sends one after the other.
  test.runIf(prepare)('waits for no answer between the last statement and COMMIT', async () => {
    const { connections } = connection.sql as unknown as { connections: { received: number }[] };
    const answers = () => connections.reduce((sum, { received }) => sum + received, 0);
    await Promise.all([1, 2, 3].map((each) => write(`${prepare} warm ${each}`, ['x', 'x'])));
    const before = answers();
    let sentAt = before;
    await transactSendingLast(connection.db, async (tx, sendLast) => {
      await insert(tx).execute({ name: `${prepare} first`, value: 'x' });
      await sendLast(insert(tx).execute({ name: `${prepare} second`, value: 'x' }));
      sentAt = answers();
    });
    expect(sentAt - before).toBe(2);
  });
});
