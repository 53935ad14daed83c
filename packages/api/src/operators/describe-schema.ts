import type { App } from '../app.ts';
import { readSchemaState } from '../platform/db/migrate.ts';

/** Returns a sentence about the migrations of the database. */
export async function describeSchema({ sql, migrations }: App): Promise<string> {
  const { known, pending } = await readSchemaState(sql, { folder: migrations });
  return pending === 0 ? `All ${known} migrations are in.` : `${pending} migrations are missing.`;
}
