import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '@gatehouse/api/platform/config';
import { nameHeaders } from './canonical-request.ts';
import { keepDatabase } from './database/keep-database.ts';
import { type Application, openHttpServer } from './http-server.ts';
import { processLog } from './process-log.ts';
import { onShutdownSignal } from './shutdown-signals.ts';

/** The application as it is opened at the start, and what ends it. */
export type OpenApplication = Application & {
  /** Begins no more jobs, while open requests are finished. */
  beginShutdown: () => void;
  close: () => Promise<void>;
};

/** Longer than the application waits for running jobs: a mail whose job was cut off would be sent again. */
const shutdownMilliseconds = 12_000;
const exitAtLatestMilliseconds = 24_500;

/**
 * Runs the service until SIGTERM or SIGINT. It listens first, then starts the embedded
 * database and opens the application. A signal ends the jobs and drains the requests, closes the application, stops the
 * database and ends the process.
 *
 * @throws Error whose message is a sentence that says why the service cannot start.
 */
export async function runService(config: Config, open: (config: Config) => Promise<OpenApplication>): Promise<void> {
  const log = processLog(config);
  const database = keepDatabase(config.dataDir, log);
  const server = await openHttpServer(config);
  let application: OpenApplication | null = null;

  onShutdownSignal(async (reason) => {
    log.info('Shutting down: open requests are finished first.', { reason });
    setTimeout(() => process.exit(0), exitAtLatestMilliseconds);
    application?.beginShutdown();
    await server.drain();
    await Promise.race([Promise.allSettled([application?.close()]), pause(shutdownMilliseconds)]);
    await database.stop();
    process.exit(0);
  });

  const databaseUrl = config.databaseUrl ?? (await database.start());
  nameHeaders();
  application = await open({ ...config, databaseUrl });
  server.serve(application);
  const { host, port, version, publicBaseUrl } = config;
  log.info(`Serving on http://${host}:${port}: Gatehouse ${version}.`, { version, base_url: publicBaseUrl });
}
