import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Config } from '@gatehouse/api/config';
import { announcer } from './announce.ts';
import { nameHeaders } from './canonical-request.ts';
import { openHttpServer } from './http-server.ts';
import { keepDatabase } from './keep-database.ts';
import { onShutdownSignal } from './shutdown-signals.ts';

export const migrations = fileURLToPath(new URL('../../../packages/api/src/db/migrations', import.meta.url));
const shutdownMilliseconds = 3_000;
const exitAtLatestMilliseconds = 24_500;

/**
 * Runs the service until it is told to end: listens at once, brings the database
 * and the built application up behind the door, and on a signal drains both.
 * Throws the one sentence that says why it cannot start.
 */
export async function runService(config: Config, handlerUrl: URL): Promise<void> {
  const announce = announcer(config);
  const database = keepDatabase(config.dataDir, announce);
  const door = await openHttpServer(config);

  onShutdownSignal(async (reason) => {
    announce('info', 'Ending: what is under way is finished first.', { reason });
    setTimeout(() => process.exit(0), exitAtLatestMilliseconds);
    await door.drain();
    await closeApplication(reason);
    await database.stop();
    process.exit(0);
  });

  process.env.GATEHOUSE_MIGRATIONS = migrations;
  if (config.databaseUrl === null) process.env.DATABASE_URL = await database.start();
  nameHeaders();
  door.serve(await loadApplication(handlerUrl));
  announce('info', `Serving on http://${config.host}:${config.port}.`, { base_url: config.publicBaseUrl });
}

/** Kit's init runs while the handler is imported: migrations, and the wait for a database that is away. */
async function loadApplication(handlerUrl: URL) {
  if (!fs.existsSync(handlerUrl)) throw new Error('There is no build of the service: run npm run build first.');

  const instrumentation = new URL('server/instrumentation.server.js', handlerUrl);
  if (fs.existsSync(instrumentation)) await import(instrumentation.href);
  const { handler } = await import(handlerUrl.href);
  return handler;
}

/** What Kit's own server would do after its last request. Listeners are awaited, which emit does not. */
async function closeApplication(reason: string): Promise<void> {
  const listeners = process.listeners('sveltekit:shutdown' as NodeJS.Signals) as ((reason: string) => unknown)[];
  const closed = Promise.allSettled(listeners.map(async (listener) => listener(reason)));
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, shutdownMilliseconds))]);
}
