import type { Sql } from 'postgres';

/** The number is arbitrary but must be the same in every process. */
const lockNumber = 7_240_311;
const pauseMilliseconds = 100;

/**
 * Runs `work` in one process at a time; the others wait. The lock belongs to a transaction, because
 * a session lock does not work behind a pooler in transaction mode. A waiting process holds no
 * connection, because there may be fewer connections than processes. `work` needs a connection of
 * its own.
 */
export async function withAdvisoryLock<Result>(sql: Sql, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    let done: { result: Result } | null = null;
    await sql.begin(async (lock) => {
      await lock.unsafe('set local idle_in_transaction_session_timeout = 0');
      // In the simple protocol: the portal of a parameterised statement would hold a snapshot, for whose
      // end `create index concurrently` waits.
      const [asked] = await lock.unsafe(`select pg_try_advisory_xact_lock(${lockNumber}) as taken`);
      if (asked?.taken) done = { result: await work() };
    });
    if (done !== null) return (done as { result: Result }).result;
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  }
}
