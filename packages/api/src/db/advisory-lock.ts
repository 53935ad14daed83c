import type { Sql } from 'postgres';

/** Any number will do, as long as every node uses the same one. */
const lockNumber = 7_240_311;
const pauseMilliseconds = 100;

/**
 * Lets one node at a time do `work`; the others wait. The lock is held by a transaction,
 * because a session's would not hold behind a pooler, and whoever waits holds none, because
 * there may be fewer connections than nodes. `work` needs a connection of its own.
 */
export async function withAdvisoryLock<Result>(sql: Sql, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    let done: { result: Result } | null = null;
    await sql.begin(async (lock) => {
      const [asked] = await lock`select pg_try_advisory_xact_lock(${lockNumber}) as taken`;
      if (asked?.taken) done = { result: await work() };
    });
    if (done !== null) return (done as { result: Result }).result;
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  }
}
