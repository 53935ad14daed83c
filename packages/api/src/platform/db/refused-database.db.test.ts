import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../create-app.ts';
import { createTestDatabase, migrationsFolder } from '../../testing/database/database.ts';
import { parseConfig } from '../config.ts';
import { explainDatabaseRefusal, isDatabaseUnavailable, toAppError } from '../errors.ts';
import { silentLog } from '../log.ts';
import { openDatabase } from './client.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function onAnother(change: (url: URL) => void): string {
  const url = new URL(database.url);
  change(url);
  return url.href;
}

async function failureOf(url: string, statement: string): Promise<unknown> {
  const { sql, close } = openDatabase({ url, pool: 1, prepare: false });
  const error = await sql.unsafe(statement).catch((thrown: unknown) => thrown);
  await close();
  return error;
}

const refusing: [name: string, change: (url: URL) => void][] = [
  [
    'a database that it does not know',
    (url) => {
      url.pathname = '/unknown';
    },
  ],
  [
    'a user that it does not know',
    (url) => {
      url.username = 'stranger';
    },
  ],
];

it.each(refusing)('%s ends the start with a sentence that names DATABASE_URL', async (_name, change) => {
  const config = parseConfig({ DATABASE_URL: onAnother(change) });
  const started = createApp({ config, migrations: migrationsFolder, work: true, log: silentLog });
  await expect(started).rejects.toThrow(/^The database refuses: .+ [Cc]orrect DATABASE_URL\.$/);
});

it('a missing right is explained, and is a 503 for a request as an unknown user is', async () => {
  const missingRight = await failureOf(database.url, "select pg_read_file('PG_VERSION')");
  expect(explainDatabaseRefusal(missingRight)).toMatch(/^The database refuses: permission denied .*DATABASE_URL/);

  const unknown = await failureOf(
    onAnother((url) => {
      url.pathname = '/unknown';
    }),
    'select 1',
  );
  for (const error of [missingRight, unknown]) expect(toAppError(error)).toMatchObject({ code: 'BUSY' });
  expect(explainDatabaseRefusal(await failureOf(database.url, 'select 1/0'))).toBeNull();
});

it('the start waits for a host that has no address', async () => {
  expect(isDatabaseUnavailable(await failureOf('postgres://gatehouse@gatehouse.invalid/gatehouse', 'select 1'))).toBe(
    true,
  );
});
