import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import type { Sql } from 'postgres';
import postgres from 'postgres';
import { withAdvisoryLock } from './advisory-lock.ts';
import { normaliseAddresses } from './normal-addresses.ts';

/** Applies the migrations in `folder` that are missing. Several processes may start at once. */
export async function migrate(sql: Sql, folder: string): Promise<void> {
  const single = postgres({ ...sql.options, max: 1, onnotice: () => {} } as never);
  try {
    await withAdvisoryLock(sql, async () => {
      await applyMigrations(drizzle(single), { migrationsFolder: folder });
      await normaliseAddresses(drizzle(single));
    });
  } finally {
    await single.end({ timeout: 5 });
  }
}
