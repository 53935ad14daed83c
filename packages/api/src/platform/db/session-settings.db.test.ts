import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { openDatabase } from './client.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase();
  await on({ prepare: true }, async (sql) => {
    const [{ name } = {}] = await sql`select current_database() as name`;
    for (const setting of [
      "default_transaction_isolation = 'serializable'",
      "TimeZone = 'Asia/Kolkata'",
      "DateStyle = 'SQL, DMY'",
      'standard_conforming_strings = off',
      'statement_timeout = 1000',
    ]) {
      await sql.unsafe(`alter database ${name} set ${setting}`);
    }
  });
});
afterAll(() => database.drop());

async function on<Result>(
  options: { prepare: boolean; withoutStatementTimeout?: boolean },
  act: (sql: Sql) => Promise<Result>,
) {
  const { sql, close } = openDatabase({ url: database.url, pool: 1, ...options });
  return act(sql).finally(close);
}

it.each([true, false])(
  'times and texts are read alike whatever the defaults of the database are (prepare: %s)',
  async (prepare) => {
    await on({ prepare }, async (sql) => {
      const [row] = await sql.unsafe(
        `select timestamptz '2026-12-11 10:00:00Z' as at, '2026-12-11'::text::date::text as day, 'a\\b' as text`,
      );
      expect(row).toEqual({ at: '2026-12-11 10:00:00+00', day: '2026-12-11', text: 'a\\b' });
    });
  },
);

it('transactions are read committed whatever the defaults of the database are', async () => {
  const levels = await on({ prepare: true }, (sql) => sql.begin((tx) => tx`show transaction_isolation`));
  expect(levels).toEqual([{ transaction_isolation: 'read committed' }]);
});

it('a statement_timeout of the role ends requests, and no migration or scheduled job', async () => {
  const sleep = (sql: Sql) => sql`select pg_sleep(2)`;
  await expect(on({ prepare: true }, sleep)).rejects.toMatchObject({ code: '57014' });
  expect(await on({ prepare: true, withoutStatementTimeout: true }, sleep)).toHaveLength(1);
});
