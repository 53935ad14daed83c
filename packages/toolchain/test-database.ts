import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';

/**
 * Sets TEST_DATABASE_URL for every worker of a test run: the server that the user named, or a new
 * embedded one that is removed afterwards.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_DATABASE_URL) return;

  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-test-'));
  // The data is temporary, so that a crash may lose it.
  const database = await openEmbedded(folder, {
    // Autovacuum runs as the superuser, whose processes the tests' role may not end when it drops a database.
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      // A start and a query take 10 % less of a processor without the processes for asynchronous reading.
      io_method: 'sync',
      max_connections: '300',
      autovacuum: 'off',
    },
    createDatabases: true,
  });
  process.env.TEST_DATABASE_URL = database.url;

  return async () => {
    await database.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  };
}
