import { setTimeout as pause } from 'node:timers/promises';
import { type Embedded, openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import type { Announce } from './announce.ts';

/**
 * The embedded database for as long as the service runs: whoever ended it, an
 * operator's command that had started it or a kill -9, it is opened again at
 * the same address.
 */
export function keepDatabase(dataDir: string, announce: Announce) {
  let database: Embedded | null = null;
  let stopped = false;

  async function open(): Promise<string> {
    database = await openEmbedded(dataDir);
    if (stopped) await database.stop();
    database.onExit(reopen);
    return database.url;
  }

  async function reopen() {
    while (!stopped) {
      announce('warn', 'The embedded database went away; starting it again.');
      try {
        await open();
        return;
      } catch (error) {
        announce('error', error instanceof Error ? error.message : String(error));
        await pause(1_000);
      }
    }
  }

  return {
    /** Its address. Throws a sentence when it cannot be opened the first time. */
    async start(): Promise<string> {
      // The driver would look for the socket of that port.
      delete process.env.PGPORT;
      return open();
    },
    async stop(): Promise<void> {
      stopped = true;
      await database?.stop();
    },
  };
}
