import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import type { Sql } from 'postgres';
import postgres from 'postgres';

/** Any number will do, as long as every node uses the same one. */
const lockNumber = 7_240_311;

/**
 * Brings the database up to the newest migration in `folder`. Several nodes may start
 * at once: one works, the others wait. The lock is held by a transaction of another
 * connection, because a session lock does not hold behind a pooler.
 */
export async function migrate(sql: Sql, folder: string): Promise<void> {
  const single = postgres({ ...sql.options, max: 1, onnotice: () => {} } as never);
  try {
    await sql.begin(async (lock) => {
      await lock`select pg_advisory_xact_lock(${lockNumber})`;
      await applyMigrations(drizzle(single), { migrationsFolder: folder });
    });
  } finally {
    await single.end({ timeout: 5 });
  }
}
