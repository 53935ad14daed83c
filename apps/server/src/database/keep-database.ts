import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '@gatehouse/api/platform/log';
import type { EmbeddedServer } from '@gatehouse/embedded-postgres/embedded-postgres';

/**
 * Keeps the embedded database running for as long as the service runs. If it ends, for example
 * with the admin command that started it or by kill -9, it is started again at the same address.
 */
export function keepDatabase(dataDir: string, log: Log) {
  let database: EmbeddedServer | null = null;
  let stopped = false;

  async function open(): Promise<string> {
    // Not loaded where DATABASE_URL names a database.
    const { openEmbedded } = await import('@gatehouse/embedded-postgres/embedded-postgres');
    database = await openEmbedded(dataDir);
    if (stopped) await database.stop();
    database.onExit(reopen);
    return database.url;
  }

  async function reopen() {
    while (!stopped) {
      log.warn('The embedded database ended; starting it again.');
      try {
        await open();
        return;
      } catch (error) {
        log.error(error instanceof Error ? error.message : String(error));
        await pause(1_000);
      }
    }
  }

  return {
    /**
     * Starts the database and returns its URL.
     *
     * @throws Error whose message is a sentence, if the first start fails.
     */
    async start(): Promise<string> {
      // With PGPORT the driver would look for a socket of that port.
      delete process.env.PGPORT;
      return open();
    },
    async stop(): Promise<void> {
      stopped = true;
      await database?.stop();
    },
  };
}
