import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../create-app.ts';
import { createTestDatabase, migrationsFolder } from '../../testing/database/database.ts';
import { parseConfig } from '../config.ts';
import { type Connection, openDatabase } from '../db/client.ts';
import { execute } from './queue.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let queue: Connection;
beforeAll(async () => {
  database = await createTestDatabase();
  queue = openDatabase({ url: database.url, pool: 2, prepare: true });
});
afterAll(async () => {
  await queue.close();
  await database.drop();
});

it('several nodes can start at the same moment on a database without a queue', async () => {
  const logged: unknown[] = [];
  const note = (message: string, fields?: object) => void logged.push([message, fields]);
  const log = { debug: note, info: note, warn: note, error: note };
  const config = parseConfig({ DATABASE_URL: database.url, SMTP_URL: 'smtp://localhost:1' });

  const started = await Promise.allSettled(
    Array.from({ length: 6 }, () => createApp({ config, migrations: migrationsFolder, work: true, log })),
  );
  await Promise.all(started.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)));
  expect(started.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(logged).toEqual([]);
});

it('continues after a statement that failed in the middle of its transaction', async () => {
  await expect(execute(queue.sql, 'BEGIN; SELECT 1/0; COMMIT;')).rejects.toThrow('division by zero');
  expect(await execute(queue.sql, 'SELECT 1 AS one')).toMatchObject({ rows: [{ one: 1 }] });
});
