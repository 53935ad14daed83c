import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Config } from '@gatehouse/api/config';
import { announcer } from './announce.ts';
import { nameHeaders } from './canonical-request.ts';
import { keepDatabase } from './database/keep-database.ts';
import { type Application, openHttpServer } from './http-server.ts';
import { onShutdownSignal } from './shutdown-signals.ts';

/** Longer than the application waits for running jobs: a mail whose job was cut off would be sent again. */
const shutdownMilliseconds = 12_000;
const exitAtLatestMilliseconds = 24_500;

/** Two modules of the built application: Kit's handler, and the hooks with the handler of the REST endpoints. */
type Build = { handler: URL; hooks: URL };

/**
 * Runs the service until SIGTERM or SIGINT. It listens at once, then starts the embedded
 * database and loads the built application. A signal drains the requests, while the application
 * ends its jobs, closes the application, stops the database and ends the process.
 *
 * @throws Error whose message is a sentence that says why the service cannot start.
 */
export async function runService(config: Config, build: Build): Promise<void> {
  const announce = announcer(config);
  const database = keepDatabase(config.dataDir, announce);
  const server = await openHttpServer(config);

  onShutdownSignal(async (reason) => {
    announce('info', 'Shutting down: open requests are finished first.', { reason });
    setTimeout(() => process.exit(0), exitAtLatestMilliseconds);
    await server.drain();
    await closeApplication(reason);
    await database.stop();
    process.exit(0);
  });

  process.env.GATEHOUSE_MIGRATIONS = fileURLToPath(new URL('migrations', build.handler));
  if (config.databaseUrl === null) process.env.DATABASE_URL = await database.start();
  nameHeaders();
  server.serve(await loadApplication(build));
  const { host, port, version, publicBaseUrl } = config;
  announce('info', `Serving on http://${host}:${port}: Gatehouse ${version}.`, { version, base_url: publicBaseUrl });
}

/** Importing the handler runs Kit's init: it migrates, and waits for a database that is unavailable. */
async function loadApplication({ handler, hooks }: Build): Promise<Application> {
  if (!fs.existsSync(handler)) throw new Error('There is no build of the service: run npm run build first.');

  const instrumentation = new URL('server/instrumentation.server.js', handler);
  if (fs.existsSync(instrumentation)) await import(instrumentation.href);
  const { handler: pages } = await import(handler.href);
  // The same module as Kit's, so the same App.
  const { restHandler } = await import(hooks.href);
  return { pages, rest: restHandler() };
}

/**
 * Emits Kit's shutdown event, as Kit's own server does. Calls the listeners directly, because `emit`
 * does not await them.
 */
async function closeApplication(reason: string): Promise<void> {
  const listeners = process.listeners('sveltekit:shutdown' as NodeJS.Signals) as ((reason: string) => unknown)[];
  const closed = Promise.allSettled(listeners.map(async (listener) => listener(reason)));
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, shutdownMilliseconds))]);
}
