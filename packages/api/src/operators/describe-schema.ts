import type { App } from '../app.ts';
import { readSchemaState } from '../platform/db/upgrade/schema-state.ts';

/** Returns a sentence about the migrations of the database. */
export async function describeSchema({ sql, migrations }: App): Promise<string> {
  const { known, pending } = await readSchemaState(sql, migrations);
  return pending.length === 0 ? `All ${known} migrations are in.` : `${pending.length} migrations are missing.`;
}
