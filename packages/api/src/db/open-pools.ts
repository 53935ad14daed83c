import type { Config } from '../config.ts';
import { type Connection, openDatabase } from './client.ts';

/** The connections of one process. Each pool opens them when they are first needed. */
export type Pools = {
  /** For requests, the jobs that they cause, and admin commands. */
  requests: Connection;
  /** For scheduled jobs, which may read every row: their deadlines are longer, and no request waits for them. */
  scheduled: Connection;
  /** The job queue's own statements. */
  queue: Connection;
  /** Asks whether the database answers, also while the other pools are full. */
  probe: Connection;
  /** Opens one connection for the start alone, which creates the queue's tables: with the deadlines of admin commands. */
  openSetup: () => Connection;
  close: () => Promise<void>;
};

type Options = Pick<Parameters<typeof openDatabase>[0], 'onFailure' | 'watch'> & {
  /** Whether this process serves requests and handles jobs. An admin command may take its time. */
  work: boolean;
};

const scheduledConnections = 2;

export function openPools(config: Config & { databaseUrl: string }, { work, onFailure, ...watch }: Options): Pools {
  const { timeouts } = config;
  const connect = { url: config.databaseUrl, prepare: config.databasePrepare, ...(onFailure && { onFailure }) };
  const commands = {
    statementSeconds: timeouts.commandSeconds,
    transactionSeconds: timeouts.commandSeconds,
    queueSeconds: timeouts.connectionQueueSeconds,
  };
  const deadlines = {
    requests: {
      ...commands,
      statementSeconds: timeouts.statementSeconds,
      transactionSeconds: timeouts.transactionSeconds,
    },
    scheduled: {
      statementSeconds: timeouts.scheduledStatementSeconds,
      transactionSeconds: timeouts.scheduledTransactionSeconds,
      queueSeconds: timeouts.scheduledTransactionSeconds,
    },
    queue: {
      statementSeconds: timeouts.queueStatementSeconds,
      transactionSeconds: timeouts.transactionSeconds,
      queueSeconds: 60,
    },
    probe: { statementSeconds: 1.5, transactionSeconds: timeouts.transactionSeconds, queueSeconds: 1.5 },
  };

  const requests = openDatabase({
    ...connect,
    ...watch,
    pool: config.databasePool,
    deadlines: work ? deadlines.requests : commands,
  });
  const scheduled = openDatabase({ ...connect, ...watch, pool: scheduledConnections, deadlines: deadlines.scheduled });
  const queue = openDatabase({ ...connect, pool: 1, deadlines: deadlines.queue });
  const probe = openDatabase({ ...connect, onFailure: undefined, pool: 1, deadlines: deadlines.probe });
  return {
    requests,
    scheduled,
    queue,
    probe,
    openSetup: () => openDatabase({ ...connect, pool: 1, deadlines: commands }),
    close: async () => void (await Promise.all([requests, scheduled, queue, probe].map((pool) => pool.close()))),
  };
}
