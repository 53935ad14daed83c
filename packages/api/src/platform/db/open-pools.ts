import net from 'node:net';
import type { Sql } from 'postgres';
import type { Config } from '../config.ts';
import { type Connection, openDatabase, serviceName } from './client.ts';

/** The connections of one process. Each pool opens them when they are first needed. */
type Pools = {
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
  // By its name `forget-payments` tells a serving process from a command.
  const name = work ? serviceName : `${serviceName}-operator`;
  const connect = { url: config.databaseUrl, prepare: config.databasePrepare, name, ...watch };
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

const timeoutMilliseconds = 2_000;
/** The message SSLRequest (PostgreSQL's protocol, section "Message Formats"). Its answer is S or N. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/**
 * Returns a sentence if a connection failed because DATABASE_URL asks for TLS and the server has none.
 * The driver starts TLS although the server refused it, so its error is that of a cut connection.
 */
export async function explainRefusedTls({ options }: Sql, error: unknown): Promise<string | null> {
  const wasCut = error instanceof Error && /before secure TLS connection/.test(messagesOf(error));
  if (!wasCut || !options.ssl || options.ssl === 'prefer') return null;

  const answers = await Promise.all(options.host.map((host, at) => answerOf(host, options.port[at] ?? 5432)));
  if (!answers.includes('N')) return null;
  return 'The database has no TLS, and DATABASE_URL asks for it: set ssl = on in postgresql.conf, or remove sslmode from DATABASE_URL.';
}

function messagesOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message} ${messagesOf(error.cause)}` : error.message;
}

/** Returns the server's answer; null if there is none in time. */
function answerOf(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: timeoutMilliseconds }, () => socket.write(sslRequest));
    function end(answer: string | null) {
      socket.destroy();
      resolve(answer);
    }
    socket.once('data', (bytes) => end(bytes.toString('latin1', 0, 1)));
    socket.once('timeout', () => end(null));
    socket.once('error', () => end(null));
    socket.once('close', () => end(null));
  });
}
