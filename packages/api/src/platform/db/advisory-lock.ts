import type { Sql } from 'postgres';

/**
 * The advisory locks of one number. The numbers are arbitrary but must be the same in every process. Locks of two
 * numbers, as those of mail addresses, never conflict with these.
 */
export const lockNumbers = { start: 7_240_311, tokenKeys: 7_240_313 };
const pauseMilliseconds = 100;

/** Runs `work` in one process at a time; the others wait. `work` needs a connection of its own. */
export async function withAdvisoryLock<Result>(sql: Sql, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const done = await tryAdvisoryLock(sql, lockNumbers.start, work);
    if (done !== null) return done.result;
    // A waiting process holds no connection, because there may be fewer connections than processes.
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  }
}

/**
 * Runs `work` and returns its result, or returns null if another process has the lock. The lock belongs to a
 * transaction, because a session lock does not work behind a pooler in transaction mode. `work` needs a
 * connection of its own.
 */
export async function tryAdvisoryLock<Result>(
  sql: Sql,
  number: number,
  work: () => Promise<Result>,
): Promise<{ result: Result } | null> {
  let done: { result: Result } | null = null;
  await sql.begin(async (lock) => {
    await lock.unsafe('set local idle_in_transaction_session_timeout = 0');
    const [asked] = await lock`select pg_try_advisory_xact_lock(${number}) as taken`;
    if (asked?.taken) done = { result: await work() };
  });
  return done;
}
