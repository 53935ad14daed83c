import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Config } from '@gatehouse/api/platform/config';
import { announcer } from './announce.ts';
import { nameHeaders } from './canonical-request.ts';
import { keepDatabase } from './database/keep-database.ts';
import { type Application, openHttpServer } from './http-server.ts';
import { onShutdownSignal } from './shutdown-signals.ts';

/** Longer than the application waits for running jobs: a mail whose job was cut off would be sent again. */
const shutdownMilliseconds = 12_000;
const exitAtLatestMilliseconds = 24_500;

/** The built application, before it is opened. Its hooks are bundled with packages/api: this program has no copy of that. */
export type Program = {
  /** The folder of the migrations. */
  migrations: string;
  /** @throws ConfigError with a line for each invalid variable. */
  parseConfig: (environment: NodeJS.ProcessEnv) => Config;
  /** Migrates the database, and waits for one that is unavailable. Resolves when every request can be answered. */
  open: (settings: { config: Config; migrations: string }) => Promise<Application>;
};

/**
 * Imports the application from the folder of its build.
 *
 * @throws Error whose message is a sentence, if there is no build.
 */
export async function importProgram(build: URL): Promise<Program> {
  const hooks = new URL('server/entries/hooks.server.js', build);
  if (!fs.existsSync(hooks)) throw new Error('There is no build of the service: run npm run build first.');

  const { parseConfig, openApp, restHandler, readiness, countRefusal } = await import(hooks.href);
  return {
    migrations: fileURLToPath(new URL('migrations', build)),
    parseConfig,
    async open(settings) {
      // Kit's modules are loaded while the database answers. Kit's init awaits the same App.
      const opening = openApp(settings);
      const [{ handler }] = await Promise.all([import(new URL('handler.js', build).href), opening]);
      return { pages: handler, rest: restHandler(), readiness, countRefusal };
    },
  };
}

/**
 * Runs the service until SIGTERM or SIGINT. It listens first, then starts the embedded
 * database and opens the application. A signal drains the requests, while the application
 * ends its jobs, closes the application, stops the database and ends the process.
 *
 * @throws Error whose message is a sentence that says why the service cannot start.
 */
export async function runService(config: Config, { open, migrations }: Omit<Program, 'parseConfig'>): Promise<void> {
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

  const databaseUrl = config.databaseUrl ?? (await database.start());
  nameHeaders();
  server.serve(await open({ config: { ...config, databaseUrl }, migrations }));
  const { host, port, version, publicBaseUrl } = config;
  announce('info', `Serving on http://${host}:${port}: Gatehouse ${version}.`, { version, base_url: publicBaseUrl });
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
