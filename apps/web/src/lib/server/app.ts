import type { App } from '@gatehouse/api/app';
import { createApp } from '@gatehouse/api/create-app';
import { type Config, parseConfig } from '@gatehouse/api/platform/config';

export { parseConfig };

let opening: Promise<App> | undefined;

type Settings = {
  config: Config;
  /** The folder of the migrations. */
  migrations: string;
};

/** Returns the App, which the first call creates. The built service passes the settings; they default to the environment. */
export function openApp(settings?: Settings): Promise<App> {
  opening ??= open(settings ?? readSettings());
  return opening;
}

function readSettings(): Settings {
  const migrations = process.env.GATEHOUSE_MIGRATIONS;
  if (!migrations) throw new Error('GATEHOUSE_MIGRATIONS is unset: start the service with `npm run serve`.');
  return { config: parseConfig(process.env), migrations };
}

async function open(settings: Settings): Promise<App> {
  const app = await createApp({ ...settings, work: true });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => beginShutdown(app));
  process.once('sveltekit:shutdown', () => app.close());
  return app;
}

/** Stops the feed and the jobs while open requests drain. The requests can still enqueue jobs. */
function beginShutdown(app: App): void {
  // Requests that wait for the feed would delay the drain.
  app.changes.stop();
  // Running jobs would have little time left after the drain. `close` waits for this stop, and repeats it if it failed.
  app.jobs.stop().catch(() => {});
}
