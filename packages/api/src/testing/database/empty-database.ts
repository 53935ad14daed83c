import { randomBytes } from 'node:crypto';
import { openDatabase } from '../../platform/db/client.ts';

/** Creates a database without any table, for tests of the migrations. */
export async function createEmptyDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const url = new URL(process.env.TEST_DATABASE_URL ?? '');
  const name = `empty_${randomBytes(8).toString('hex')}`;
  const server = openDatabase({ url: url.href, pool: 1, prepare: false });
  await server.sql.unsafe(`create database ${name}`);

  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      await server.sql.unsafe(`drop database ${name} with (force)`);
      await server.close();
    },
  };
}
