import type { Sql } from 'postgres';
import { codeOf, explainDatabaseRefusal, isDatabaseUnavailable, type WriteRefusal, writeRefusalOf } from '../errors.ts';
import type { Log } from '../log.ts';

const pingMilliseconds = 1_500;
const checkMilliseconds = 1_000;
/** How long after a refusal the database counts as unavailable. */
const quietMilliseconds = 5_000;
/** Between two log lines about refused writes. */
const repeatMilliseconds = 60_000;

/** The state of the database, as this process observes it. */
export type DatabaseHealth = {
  /** Notes the failure of a request or a job. Logs the first one of an episode, if it is the database's. */
  failed: (error: unknown) => void;
  /**
   * Returns null if the database answers now and refused nothing recently, else the code of the reason. It asks for
   * reads alone: with a full disk PostgreSQL still reads, and so do the products that ask who a user is.
   */
  check: () => Promise<string | null>;
  /** Later failures are those of connections that this process closes, and are not logged. */
  stop: () => void;
};

/**
 * Watches the database through several pools: it answers if one of them gets an answer, so that a full pool is not
 * taken for an unavailable database. Logs one line when the database becomes unavailable, and one when it is
 * available again and failed nothing for `quietSeconds`. Tells each refused write, and logs one a minute.
 */
export function watchHealth(
  pools: Sql[],
  log: Log,
  quietSeconds: number,
  onRefusedWrite: (reason: WriteRefusal) => void = () => {},
): DatabaseHealth {
  // Times of a clock that nothing sets back.
  let episode: { code: string; since: number } | null = null;
  let lastFailure = 0;
  let lastRefusal: { code: string; at: number } | null = null;
  let timer: NodeJS.Timeout | undefined;
  let lastRefusedWrite = Number.NEGATIVE_INFINITY;
  let running: Promise<string | null> | null = null;
  let stopped = false;

  function failed(error: unknown) {
    if (stopped) return;
    const reason = writeRefusalOf(error);
    if (reason !== null) return refusedWrite(reason, error);
    const refused = explainDatabaseRefusal(error);
    if (refused === null && !isDatabaseUnavailable(error)) return;

    const code = codeOf(error) ?? 'UNKNOWN';
    // A full pool does not show that the database is unavailable.
    if (code === 'POOL_BUSY') return;
    lastFailure = performance.now();
    if (refused !== null || /^5[38]/.test(code)) lastRefusal = { code, at: lastFailure };
    if (episode !== null) return;

    episode = { code, since: lastFailure };
    log.warn('The database is unavailable.', { code, error });
    timer = setInterval(endEpisode, checkMilliseconds).unref();
  }

  function refusedWrite(reason: WriteRefusal, error: unknown) {
    onRefusedWrite(reason);
    if (performance.now() - lastRefusedWrite < repeatMilliseconds) return;
    lastRefusedWrite = performance.now();
    log.warn('The database refuses writes.', { reason, error });
  }

  async function endEpisode() {
    if ((await ping()) !== null || episode === null || performance.now() - lastFailure < quietSeconds * 1000) return;
    log.info('The database is available again.', { seconds: Math.round((performance.now() - episode.since) / 1000) });
    episode = null;
    clearInterval(timer);
  }

  function ping(): Promise<string | null> {
    // One at a time: a proxy may ask every second, while each ping waits.
    running ??= Promise.any(pools.map((sql) => pingDatabase(sql, pingMilliseconds)))
      .then(
        () => null,
        ({ errors: [error] }: AggregateError) => {
          failed(error);
          return codeOf(error) ?? 'UNKNOWN';
        },
      )
      .finally(() => {
        running = null;
      });
    return running;
  }

  return {
    failed,
    async check() {
      const code = await ping();
      if (code !== null) return code;
      return lastRefusal !== null && performance.now() - lastRefusal.at < quietMilliseconds ? lastRefusal.code : null;
    },
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}

/**
 * Checks that the database answers within four seconds, or within `timeoutMilliseconds`. The driver's own
 * timeout does not end a connection to an address that never responds.
 *
 * @throws Error with the code CONNECT_TIMEOUT if it does not, or the driver's error.
 */
export async function pingDatabase(sql: Sql, timeoutMilliseconds = 4_000): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error('The database does not answer.'), { code: 'CONNECT_TIMEOUT' });
    timer = setTimeout(() => reject(error), timeoutMilliseconds);
  });
  try {
    await Promise.race([sql`select 1`, silence]);
  } finally {
    clearTimeout(timer);
  }
}
