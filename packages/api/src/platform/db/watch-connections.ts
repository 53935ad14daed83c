import type { Sql } from 'postgres';

/** How long a pool waits. The driver has no such limits of its own. */
export type Deadlines = {
  /** For the next byte of an answer, while a statement is under way. Half of queueSeconds while a connection is opened. */
  statementSeconds: number;
  /** For the end of a transaction. */
  transactionSeconds: number;
  /** For a connection, while all are in use. Half of it while the server sends nothing at all. */
  queueSeconds: number;
};

/** A connection of the driver. patches/postgres@*.patch adds what is read here. */
type Connection = {
  /** Whether it expects an answer. */
  waiting: boolean;
  /** Whether it is opened for a statement that waits. */
  opening: boolean;
  /** How many pieces of data have come. */
  received: number;
  /** What runs the next statement of its open transaction; another function for each transaction. */
  reserved?: object | null;
  destroy: (error: Error) => void;
};

type StatementQueue = {
  length: number;
  now: number;
  first: { queued: number };
  shift: () => { reject: (error: Error) => void };
};

const tickMilliseconds = 250;
/** What one tick counts for at most, however late it is. */
const longestStepMilliseconds = 1000;

/**
 * Ends connections whose server is silent, and transactions that stay open: a cut connection reports
 * nothing, and statement_timeout needs the server. The driver rejects what was under way and
 * opens another connection. One timer serves the whole pool, so that statements cost nothing more.
 * Returns the function that ends the watch.
 */
export function watchConnections(sql: Sql, deadlines: Deadlines): () => void {
  const { connections, waiting } = sql as unknown as { connections: Connection[]; waiting: StatementQueue };
  const statementMilliseconds = deadlines.statementSeconds * 1000;
  const short = (deadlines.queueSeconds * 1000) / 2;
  // Not the time of day, which an administrator or NTP may set back.
  let lastTick = performance.now();
  let now = lastTick;
  /** Since when an answer is expected and no connection has received anything. */
  let silentSince = now;
  const seen = new Map(connections.map((each) => [each, stateOf(each, now)]));
  waiting.now = now;

  function tick() {
    const time = performance.now();
    // While the process is paused, answers come that it cannot read: that time does not count.
    now += Math.min(time - lastTick, longestStepMilliseconds);
    lastTick = time;
    let isExpected = waiting.length > 0;
    let isHeard = false;
    for (const [connection, state] of seen) {
      if (connection.received !== state.received) {
        isHeard = true;
        state.received = connection.received;
        state.heardAt = now;
        state.askedAt = now;
        state.waitsAt = null;
      }
      if (connection.waiting) {
        isExpected = true;
        state.waitsAt ??= now;
      } else {
        state.askedAt = now;
        state.waitsAt = null;
      }
      if (connection.reserved !== state.reserved) {
        state.reserved = connection.reserved;
        state.begunAt = now;
      }
      const patience = connection.opening ? Math.min(short, statementMilliseconds) : statementMilliseconds;
      const silent = now - state.askedAt > patience;
      const endless = Boolean(state.reserved) && now - state.begunAt > deadlines.transactionSeconds * 1000;
      if (silent) endSilent(connection, state.waitsAt ?? now);
      if (endless) connection.destroy(timeout('A transaction stayed open.'));
      if (silent || endless) Object.assign(state, stateOf(connection, now));
    }

    if (isHeard || !isExpected) silentSince = now;

    waiting.now = now;
    // A caller that gets a connection after a long wait may then wait for a silent statement as well.
    const longest = now - silentSince > short ? short : 2 * short;
    while (waiting.length > 0 && now - waiting.first.queued > longest) {
      waiting.shift().reject(failure('POOL_BUSY', 'All connections to the database are in use.'));
    }
  }

  /** The network that cut one connection has probably cut those that were idle meanwhile. */
  function endSilent(connection: Connection, since: number) {
    connection.destroy(timeout('The database does not answer.'));
    for (const [other, { heardAt }] of seen) {
      if (!other.waiting && !other.reserved && heardAt <= since) other.destroy(timeout('It was idle too long.'));
    }
  }

  const timer = setInterval(tick, tickMilliseconds).unref();
  return () => clearInterval(timer);
}

/**
 * Times are those of ticks. `heardAt` is the last tick at which the connection had received something new. `askedAt` is
 * the last one at which it expected no answer or had received something: the deadline of an answer counts from it.
 * `waitsAt` is the first one after `askedAt` at which it expected an answer; null while it expects none. When a silent
 * connection ends, the idle ones end too that have received nothing since its `waitsAt`.
 */
function stateOf({ received, reserved }: Connection, now: number) {
  return { received, reserved, heardAt: now, askedAt: now, waitsAt: null as number | null, begunAt: now };
}

function timeout(sentence: string): Error {
  return failure('ETIMEDOUT', sentence);
}

function failure(code: string, sentence: string): Error {
  return Object.assign(new Error(sentence), { code });
}
