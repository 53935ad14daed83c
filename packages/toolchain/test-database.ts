import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openEmbedded, temporary } from '@gatehouse/embedded-postgres/embedded-postgres';

/**
 * Sets TEST_DATABASE_URL for every worker of a test run: the server that the user named, or a new
 * embedded one that is removed afterwards.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_DATABASE_URL) return;

  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-test-'));
  const settings = { ...temporary, max_connections: '300' };
  const database = await openEmbedded(folder, { settings, createDatabases: true });
  process.env.TEST_DATABASE_URL = database.url;

  return async () => {
    await database.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  };
}
