import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';

/**
 * One PostgreSQL for the whole run, in TEST_DATABASE_URL of every worker: the
 * server that the person named, else an embedded one that is gone afterwards.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_DATABASE_URL) return;

  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-test-'));
  // What a crash would lose is thrown away anyway.
  const database = await openEmbedded(folder, {
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '300' },
    createDatabases: true,
  });
  process.env.TEST_DATABASE_URL = database.url;

  return async () => {
    await database.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  };
}
