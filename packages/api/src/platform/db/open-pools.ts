import type { Sql } from 'postgres';
import type { Config } from '../config.ts';
import { type Connection, openDatabase, serviceName } from './client.ts';

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
  /**
   * Runs work of the start on two connections of its own, with the deadlines of admin commands: the first one
   * holds a lock, the second one creates the queue's tables.
   */
  setUp: <Result>(work: (lock: Sql, sql: Sql) => Promise<Result>) => Promise<Result>;
  close: () => Promise<void>;
};

type Options = Pick<Parameters<typeof openDatabase>[0], 'onFailure' | 'watch'> & {
  /** Whether this process serves requests and handles jobs. An admin command may take its time. */
  work: boolean;
};

const scheduledConnections = 2;

/** Opens the pools for requests, commands and scheduled work, each with its own limits. No connection is open yet. */
export function openPools(config: Config & { databaseUrl: string }, { work, onFailure, ...watch }: Options): Pools {
  const { timeouts } = config;
  const connect = {
    url: config.databaseUrl,
    prepare: config.databasePrepare,
    name: work ? serviceName : `${serviceName}-operator`,
    ...(onFailure && { onFailure }),
  };
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
    withoutStatementTimeout: !work,
  });
  const scheduled = openDatabase({
    ...connect,
    ...watch,
    pool: scheduledConnections,
    deadlines: deadlines.scheduled,
    withoutStatementTimeout: true,
  });
  const queue = openDatabase({ ...connect, pool: 1, deadlines: deadlines.queue });
  const probe = openDatabase({ ...connect, onFailure: undefined, pool: 1, deadlines: deadlines.probe });
  const inSetup = new Set<Connection>();
  return {
    requests,
    scheduled,
    queue,
    probe,
    async setUp(work) {
      const [lock, own] = [1, 2].map(() =>
        openDatabase({ ...connect, pool: 1, deadlines: commands, withoutStatementTimeout: true }),
      ) as [Connection, Connection];
      for (const each of [lock, own]) inSetup.add(each);
      try {
        return await work(lock.sql, own.sql);
      } finally {
        await closeAll([lock, own]);
        for (const each of [lock, own]) inSetup.delete(each);
      }
    },
    close: () => closeAll([requests, scheduled, queue, probe, ...inSetup]),
  };
}

async function closeAll(connections: Connection[]): Promise<void> {
  await Promise.all(connections.map((each) => each.close()));
}
