import { expect, it } from 'vitest';
import { createApp } from '../../create-app.ts';
import { createTestDatabase, migrationsFolder } from '../../testing/database/database.ts';
import { parseConfig } from '../config.ts';
import { openDatabase } from './client.ts';
import { hasSearchIndexes } from './search-indexes.ts';

/** A test database without the two indexes, on which nodes can start. `logged` holds what they logged. */
async function databaseWithoutIndexes() {
  const database = await createTestDatabase();
  const { sql, close } = openDatabase({ url: database.url, pool: 2, prepare: true });
  await sql`drop index users_parts, organisations_parts`;
  const logged: unknown[] = [];
  const note = (message: string, fields?: object) => void logged.push([message, fields]);
  const log = { debug: note, info: note, warn: note, error: note };
  const config = parseConfig({ DATABASE_URL: database.url, SMTP_URL: 'smtp://localhost:1' });
  return {
    sql,
    logged,
    start: () => createApp({ config, migrations: migrationsFolder, work: true, log }),
    async end() {
      await close();
      await database.drop();
    },
  };
}

it('nodes start beside a long transaction, which only the search indexes wait for', async () => {
  const { sql, start, logged, end } = await databaseWithoutIndexes();

  const nodes = await sql.begin(async (tx) => {
    await tx`insert into users (id, email, created_at) values (gen_random_uuid(), 'someone@company.example', now())`;
    const started = Date.now();
    const both = await Promise.all([start(), start()]);
    expect(Date.now() - started).toBeLessThan(15_000);
    expect(await hasSearchIndexes(sql)).toBe(false);
    return both;
  });
  await expect.poll(() => hasSearchIndexes(sql)).toBe(true);
  await Promise.all(nodes.map((node) => node.close()));
  expect(logged).toEqual([]);
  await end();
});

it('a node that ends while its indexes are created ends at once without a warning, and the next start creates them', async () => {
  const { sql, start, logged, end } = await databaseWithoutIndexes();

  await sql.begin(async (tx) => {
    await tx`insert into users (id, email, created_at) values (gen_random_uuid(), 'someone@company.example', now())`;
    const node = await start();
    const ended = Date.now();
    await node.close();
    expect(Date.now() - ended).toBeLessThan(9_000);
    expect(logged).toEqual([]);
  });
  const node = await start();
  await expect.poll(() => hasSearchIndexes(sql)).toBe(true);
  await node.close();
  expect(logged).toEqual([]);
  await end();
});
