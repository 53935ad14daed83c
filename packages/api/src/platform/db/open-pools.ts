import type { Config } from '../config.ts';
import { type Connection, openDatabase } from './client.ts';

/** The connections of one process. Each pool opens them when they are first needed. */
export type Pools = {
  /** For requests, the jobs that they cause, and admin commands. */
  requests: Connection;
  /**
   * For the job queue, scheduled jobs and the start. Its statements may read every row, so their deadlines are longer,
   * and no request waits for them.
   */
  background: Connection;
  close: () => Promise<void>;
};

type Options = Pick<Parameters<typeof openDatabase>[0], 'watch'> & {
  /** Whether this process serves requests and handles jobs. An admin command may take its time. */
  work: boolean;
};

/** The queue's own statements are short. More scheduled jobs than this rarely run at once, and one then waits. */
const backgroundConnections = 4;

/** Opens the pools for requests, commands and background work, each with its own deadlines. No connection is open yet. */
export function openPools(config: Config & { databaseUrl: string }, { work, ...watch }: Options): Pools {
  const { timeouts } = config;
  const connect = { url: config.databaseUrl, prepare: config.databasePrepare, ...watch };
  const commandSeconds = { statementSeconds: timeouts.commandSeconds, transactionSeconds: timeouts.commandSeconds };
  const { statementSeconds, transactionSeconds, connectionQueueSeconds: queueSeconds } = timeouts;

  const requests = openDatabase({
    ...connect,
    pool: config.databasePool,
    deadlines: { queueSeconds, ...(work ? { statementSeconds, transactionSeconds } : commandSeconds) },
    withoutStatementTimeout: !work,
  });
  const background = openDatabase({
    ...connect,
    pool: backgroundConnections,
    deadlines: {
      statementSeconds: timeouts.backgroundStatementSeconds,
      transactionSeconds: timeouts.backgroundTransactionSeconds,
      queueSeconds: timeouts.backgroundTransactionSeconds,
    },
    withoutStatementTimeout: true,
  });
  return {
    requests,
    background,
    async close() {
      await Promise.all([requests.close(), background.close()]);
    },
  };
}
