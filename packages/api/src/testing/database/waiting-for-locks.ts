import { sql } from 'drizzle-orm';
import { expect } from 'vitest';
import type { TestApp } from '../app.ts';

/**
 * Resolves once this many connections to the test's database wait for a lock, so that a race always
 * starts from the same state.
 */
export async function waitingForLocks(
  { app }: { app: Pick<TestApp['app'], 'db'> },
  connections: number,
): Promise<void> {
  const waiting = sql`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await app.db.execute(waiting))[0]?.count).toBe(connections);
}
